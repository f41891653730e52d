"""Programs that say themselves what is to be found (programs/expect.h)."""
import glob
import os
import re

import harness

# Every program in programs/ that includes expect.h; its first comment says "ranks: N".


def programs():
    for path in sorted(glob.glob(os.path.join(harness.PROGRAMS, "*.c"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        ranks = re.search(r"ranks: (\d+)", text)
        if '#include "expect.h"' in text and ranks:
            yield os.path.basename(path)[:-2], int(ranks.group(1))


def check_program(bench, flavour, name, ranks):
    program = bench.program(name, flavour)
    log = bench.path(f"{name}.{flavour}.log")
    _, archive = bench.record(flavour, ranks, [program], env={"EXPECT_OUT": log})
    bench.verb("verify", archive)
    events = bench.dump(archive)
    for rank in range(ranks):
        with open(f"{log}.{rank}", encoding="utf-8") as file:
            harness.compare_log(rank, file.read().splitlines(),
                                [e for e in events if e["rank"] == str(rank)])


def make_test(name, ranks):
    def test(bench, flavour):
        check_program(bench, flavour, name, ranks)
    return test


for _name, _ranks in programs():
    globals()[f"test_{_name}"] = make_test(_name, _ranks)
