"""The first story of a program with a fault is the fault: what it is, which rank, function and line, what it costs, and
what can be done about it.

Programs of the shapes that users have (programs/faults; each begins with its fault and what that costs by
arithmetic), recorded in simulated time, where the cost is exact, and under Open MPI, where ranks sleep on a machine
that may be busy: there others wait at least half as long. The section on behaviour names the same ranks.
"""
import json
import os

import harness
import test_smpi

FOLDER = os.path.join(harness.PROGRAMS, "faults")
SLEEPS = "Read and write in fewer and larger pieces"  # advice where it is known that a rank sleeps
TOLERANCE, BUSY = 0.02, 0.5
MATTERS = 0.02  # of all ranks' time


def places(name, function, text):
    """Function and line where the text is in a program, as call paths have them."""
    with open(os.path.join(FOLDER, name + ".c"), encoding="ascii") as file:
        return [f"{function} ({name}.c:{n})" for n, line in enumerate(file, 1) if text in line]


class Fault:
    """A program; the kind of its story, which costs so many seconds of all ranks; the late ranks (none: each in turn);
    the function that works, who calls it, and the line; the wait states that it may be, and the function and the call
    that waits."""

    def __init__(self, name, ranks, kind, seconds, late, work, waits, advice, real_advice=None, **fields):
        self.name, self.ranks, self.kind, self.seconds, self.late = name, ranks, kind, seconds, late
        (self.function, caller, call), (self.patterns, function, waiting) = work, waits
        (place,) = places(name, caller, call)
        line = place[len(caller) + 2:-1]
        self.work = f"{self.function}(), called in {caller}() [{line}]"
        self.waited_function = waiting.split("(")[0]
        self.waited_in = [f"{self.waited_function} < {place}" for place in places(name, function, waiting)]
        self.advice, self.real_advice, self.fields = advice, real_advice or advice, fields


def answers(workers, tasks, task, store):
    """How long the workers of busy_master.c wait."""
    return sum(task + store * ((tasks - 1) * workers + worker) - tasks * task for worker in range(1, workers + 1))


FAULTS = [
    Fault("late_in_halo", 4, "cause", 3 * 2 * 0.06 * 8, [2], ("move_particles", "main", "move_particles();"),
          ("late_sender, or late_receiver", "exchange_ghosts", "MPI_Sendrecv("), "Give that rank less of this work",
          SLEEPS),
    Fault("token", 6, "one_by_one", 6 * 5 * 0.012 * 12, [], ("append_to_log", "ordered_output", "append_to_log();"),
          ("late_sender", "ordered_output", "MPI_Recv("), "Make this work shorter, or let all ranks do it at the same time"),
    Fault("busy_master", 8, "master", answers(7, 24, 0.02, 0.01), [0], ("store_result", "master", "store_result();"),
          ("late_sender", "worker", "MPI_Recv(&task"), "Make that rank answer faster, give out larger tasks, or let a second"),
    Fault("slow_rank", 8, "slow_ranks", 7 * 0.6 * (5 * (0.08 + 3 * 0.04) + 2 * 0.04), [5],
          ("compute", "solve", "compute(SOLVE_MS)"), ("wait_at_nxn", "solve", "MPI_Allreduce("),
          "Look at that rank's core and host", factor=1.6),
    Fault("root_reads", 8, "cause", 7 * 0.05 * 12, [0], ("read_forcing", "load_step", "read_forcing();"),
          ("late_broadcast", "load_step", "MPI_Bcast("), "Let the root send before it does this work", SLEEPS)]


def recorded(bench, name, ranks, arguments=(), simulated=True):
    source = os.path.join(FOLDER, name + ".c")
    if simulated:
        return test_smpi.smpi_run(bench, test_smpi.smpi_program(bench, source), ranks, arguments)
    return bench.record("openmpi", ranks, [bench.program(source, "openmpi"), *arguments])[1]


def report(bench, archive):
    return json.loads(bench.verb("report", "--json", archive))


def first_story(found, name):
    if not found["stories"]:
        raise harness.Failure(f"{name}: no story")
    return found["stories"][0]


def contains(what, text, *words):
    for word in words:
        if word not in text:
            raise harness.Failure(f"{what}: no '{word}' in {text}")


def check_story(fault, story, advice):
    finding = story["findings"][0]
    harness.compare(f"{fault.name}: what it is", story["kind"], fault.kind)
    harness.compare("work and wait", [finding[name] for name in ("function", "waited_function")],
                    [fault.function, fault.waited_function])
    contains("wait state", fault.patterns, finding["pattern"])
    contains("work", finding["activity"], fault.work)
    harness.compare("wait", " < ".join(finding["waited_in"].split(" < ")[:2]) in fault.waited_in, True)
    contains("advice", story["advice"], advice)
    if fault.late:
        harness.compare(f"{fault.name}: who is late", finding["ranks"][0]["rank"], fault.late[0])


def check_screen(bench, archive, fault, advice):
    """The first screen of a terminal has at most 24 lines, and 20 without the paragraph on cores, which an idle machine
    does not print."""
    page = bench.run([bench.refrain, "report", "--short", archive], env={"COLUMNS": "80"}, check=True, cores=True).out
    lines, width = harness.CORES_PARAGRAPH.sub("", page).splitlines(), max(map(len, page.splitlines()))
    if len(lines) > 20 or len(page.splitlines()) > 24 or width > 80:
        raise harness.Failure(f"{fault.name}: {len(lines)} lines of at most {width} columns:\n{page}")
    contains("the first screen", " ".join(harness.without_cores(page).split()), fault.work, advice)


def patterns(found):
    """Of behaviour, those in which somebody is waited for, costliest first."""
    told = [pattern for loop in found["behaviour"] for pattern in loop["patterns"] if pattern["late"]]
    return sorted(told, key=lambda pattern: -pattern["lost_share"])


def check_late(found, fault):
    """Behaviour calls late whom causes name, and nobody else; where ranks work one by one, all wait for one another."""
    for pattern in patterns(found):
        if pattern["lost_share"] > MATTERS:
            harness.compare(f"{fault.name}: late in steps", pattern["late"], fault.late or list(range(fault.ranks)))
    for rank in [rank for cause in found["causes"] for rank in cause["ranks"]]:
        if fault.late and rank["rank"] not in fault.late and rank["seconds"] > MATTERS * fault.seconds:
            raise harness.Failure(f"{fault.name}: rank {rank['rank']} costs {rank['seconds']} s")


def check_simulated(bench, fault):
    archive = recorded(bench, fault.name, fault.ranks)
    found = report(bench, archive)
    story = first_story(found, fault.name)
    check_story(fault, story, fault.advice)
    check_screen(bench, archive, fault, fault.advice)
    if abs(story["seconds"] - fault.seconds) > TOLERANCE * fault.seconds:
        raise harness.Failure(f"{fault.name} costs {story['seconds']} s, not {fault.seconds}")
    for name, value in fault.fields.items():
        if abs(story[name] - value) > TOLERANCE * value:
            raise harness.Failure(f"{fault.name}: {name} is {story[name]}, not {value}")
    others = [other["text"] for other in found["stories"][1:] if other["share"] > 0.01]
    harness.compare(f"{fault.name}: other stories", others, [])
    harness.compare(f"{fault.name}: wrong order", found["waits"]["by_pattern"]["wrong_order"], 0)
    check_late(found, fault)


def check_real(bench, fault):
    archive = recorded(bench, fault.name, fault.ranks, simulated=False)
    found = report(bench, archive)
    story = first_story(found, fault.name)
    check_story(fault, story, fault.real_advice)
    check_screen(bench, archive, fault, fault.real_advice)
    if story["seconds"] < BUSY * fault.seconds:
        raise harness.Failure(f"{fault.name} costs {story['seconds']} s, not {fault.seconds}")
    share = story["findings"][0]["cpu_share"]
    if share is None or share > 0.2:
        raise harness.Failure(f"{fault.name} sleeps, and used {share} of a core")
    late = patterns(found)[0]["late"]
    harness.compare(f"{fault.name}: late in most steps", [rank for rank in fault.late if rank not in late], [])


def test_simulated(bench):
    for fault in FAULTS:
        check_simulated(bench, fault)


def make_test(fault):
    def test(bench):
        check_real(bench, fault)
    return harness.real_time(test)


for _fault in FAULTS:
    globals()[f"test_{_fault.name}"] = make_test(_fault)


# ---- a region costs no more than its own excess ----

IO, STEPS = 0.04, 12  # of programs/faults/slow_io.c


def region_times(bench, archive, name):
    """Per rank, seconds in each visit of a region."""
    times, begins = {}, {}
    for event in bench.dump(archive):
        times.setdefault(event["rank"], [])
        if event["function"] == "refrain_region_begin" and harness.parameter(event, "name") == name:
            begins[event["rank"]] = int(event["enter_ns"])
        elif event["function"] == "refrain_region_end" and harness.parameter(event, "name") == name:
            times[event["rank"]].append(1e-9 * (int(event["enter_ns"]) - begins[event["rank"]]))
    return list(times.values())


def check_region(bench, archive):
    """What the region costs, by rank; at most what it took that rank longer than the other one."""
    found, times = report(bench, archive), region_times(bench, archive, "io")
    harness.compare("visits", [len(rank) for rank in times], [STEPS, STEPS])
    costs = [0, 0]
    for cause in found["causes"]:
        for rank in cause["ranks"]:
            costs[rank["rank"]] += rank["seconds"] if cause["region"] == "io" else 0
    for rank, cost in enumerate(costs):
        excess = sum(max(own - other, 0) for own, other in zip(times[rank], times[1 - rank]))
        if cost > 1.01 * excess + 1e-4:  # what events of regions take
            raise harness.Failure(f"io costs {cost} s on rank {rank}, which it took {excess} s longer")
    return found, costs


def test_region(bench):
    found, costs = check_region(bench, recorded(bench, "slow_io", 2))
    harness.compare("nothing is wrong", (found["stories"], costs), ([], [0, 0]))
    found, costs = check_region(bench, recorded(bench, "slow_io", 2, ["late"]))
    story = first_story(found, "slow_io")
    if abs(costs[1] - IO * STEPS) > TOLERANCE * costs[1] or costs[0]:
        raise harness.Failure(f"io costs {costs} s, not {IO * STEPS}")
    if abs(story["seconds"] - IO * (STEPS - 1)) > TOLERANCE * story["seconds"]:
        raise harness.Failure(f"the story costs {story['seconds']} s")
    harness.compare("story", [story["findings"][0][name] for name in ("region", "function", "waited_function")],
                    ["io", "write_out", "MPI_Barrier"])


@harness.real_time
def test_real_region(bench):
    check_region(bench, recorded(bench, "slow_io", 2, simulated=False))
    _, costs = check_region(bench, recorded(bench, "slow_io", 2, ["late"], simulated=False))
    if costs[1] < BUSY * IO * STEPS:
        raise harness.Failure(f"io costs {costs} s, not {IO * STEPS}")
