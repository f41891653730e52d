"""The table of what survives: the conditions that tests declare (harness.condition), with results.

A row says "so" of an MPI only if all tests that declare its condition have run with it and passed.
"""
# What tests expect that many do.
WHOLE = "as without the recorder, and a whole archive"
NO_ARCHIVE = "as without the recorder; one line says why there is no archive"
SILENT = "as without the recorder, which says nothing"
TOLD_BEFORE = "one line, before the program starts"
RECOVERED = "as without the recorder; refrain recover makes an archive"
AS_LOGGED = "refrain recover makes an archive, each event as in the log of the program"
NEXT = "as without the recorder; one line says what to type next, which makes an archive"

FOUND = {"passed": "so", "failed": "FAILED"}
WORST_FIRST = ("failed", "refused", "passed")
LEFT_OUT = "refused", "left out"
TAKES_LONG = "refused", "takes long, so with ALL=1 only"


def verdict(test, results):
    """(passed, failed or refused, why) of a test, also if it did not run."""
    if test.name in results:
        result = results[test.name]
        return result.verdict, result.why if result.verdict == "refused" else ""
    return TAKES_LONG if test.long else LEFT_OUT


def worst(verdicts):
    return min(verdicts, key=lambda one: WORST_FIRST.index(one[0]))


def found(tests, results):
    """The words for a condition. tests: all that declare it."""
    flavours = {}
    for test in tests:
        flavours.setdefault(test.flavour, []).append(verdict(test, results))
    said = {}
    for flavour, verdicts in flavours.items():
        said.setdefault(worst(verdicts), []).append(flavour)
    texts = []
    for (result, why), names in sorted(said.items()):
        of = f" ({', '.join(filter(None, names))})" if any(names) else ""
        texts.append(f"not run here{of}: {why}" if result == "refused" else FOUND[result] + of)
    return "; ".join(texts)


def declared(tests):
    """(condition, expected) -> the tests that declare it."""
    rows = {}
    for test in tests:
        for row in test.conditions:
            rows.setdefault(row, []).append(test)
    return rows


def table(tests, results, wanted):
    """Of all tests those conditions that a wanted one declares, whether it has a result or not, sorted, as lines; "":
    there are none. wanted: names of tests."""
    by_name = {result.name: result for result in results}
    rows = [("condition", "expected", "found")]
    for row, of_row in sorted(declared(tests).items()):
        if any(test.name in wanted for test in of_row):
            rows.append((*row, found(of_row, by_name)))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["| " + " | ".join(word.ljust(width) for word, width in zip(row, widths)) + " |" for row in rows]
    return "\n".join(lines) if len(rows) > 1 else ""
