"""Limits on request: exactly the calls that options name are left out, and nothing else changes."""
import json
import os
import re

import harness
import test_other_machine
import test_smpi
import test_waits

SIMULATED = True
RANKS, ROUNDS, ASKED = 2, 6, 3
POLLS = "MPI_Iprobe,MPI_Test*"
OWN = "refrain_"
ENDS = ("refrain_calls_left_out", "refrain_recording")


def rows(bench, archive, rank, without=lambda function: False):
    """What a rank did, without times and polls without success."""
    return [(e["function"], e["parameters"], e["call_path"]) for e in bench.dump(archive, "--rank", str(rank))
            if e["function"] not in ENDS and "polls=" not in e["parameters"] and not without(e["function"])]


def left_out(bench, archive, verb="report"):
    return json.loads(bench.verb(verb, "--json", archive))["left_out"]


def said(run):
    """What the ranks say: rank -> calls of MPI_Comm_rank in rounds, MPI_Iprobe, MPI_Test in vain."""
    found = {}
    for line in run.out.splitlines():
        rank, *numbers = map(int, line.split())
        found[rank] = numbers
    harness.compare("ranks that speak", sorted(found), list(range(RANKS)))
    return found


def record(bench, flavour, *options, arguments=(), name="limited"):
    run, archive = bench.record(flavour, RANKS, [bench.program("limits", flavour), *arguments], options,
                                archive=bench.path(f"{name}.{flavour}.rfn"))
    bench.verb("verify", archive)
    return run, archive


def check_rest(bench, full, limited, without):
    """The record is the full one without the calls left out."""
    for rank in range(RANKS):
        harness.compare(f"calls of rank {rank}", rows(bench, limited, rank), rows(bench, full, rank, without))


def check_messages(bench, full, limited):
    both = [test_waits.report(bench, archive)["matching"] for archive in (full, limited)]
    for name in ("messages", "matched", "unmatched_sends", "unmatched_receives", "unmatched_collectives"):
        harness.compare(name, both[1][name], both[0][name])


def test_exclude(bench, flavour):
    _, full = record(bench, flavour, name="full")
    run, limited = record(bench, flavour, "--exclude=MPI_Comm_rank,MPI_Type_*")
    check_rest(bench, full, limited, lambda function: re.match("MPI_Comm_rank$|MPI_Type_", function))
    check_messages(bench, full, limited)
    counts = {name: n for name, n in harness.count_calls(bench.dump(full)).items()
              if re.match("MPI_Comm_rank$|MPI_Type_", name)}
    harness.compare("counts", counts["MPI_Comm_rank"], RANKS * (1 + ROUNDS * ASKED))
    for verb in ("report", "info", "whatif"):
        found = left_out(bench, limited, verb)
        harness.compare("left out", found["calls"], counts)
        harness.compare("limits", found["limits"], "--exclude=MPI_Comm_rank,MPI_Type_*")
        harness.compare("nothing of the full one", left_out(bench, full, verb), None)
    words = f"{counts['MPI_Comm_rank']} calls of MPI_Comm_rank"
    platform = test_other_machine.platform(bench, test_other_machine.MACHINES[0])
    for verb in (["report"], ["report", "--csv=causes"], ["info"], ["dump"], ["whatif"], ["predict", "-p", platform],
                 ["compare", full]):
        run_of = bench.run([bench.refrain, *verb, limited], check=True)
        harness.compare(f"{verb[0]} says it once", " ".join((run_of.out + run_of.err).split()).count(words), 1)
    line = f"{1 + ROUNDS * ASKED} calls of MPI_Comm_rank (--exclude)"
    if line not in run.err:
        raise harness.Failure(run.err)


def polls_of(bench, archive, function):
    return sum(harness.polls(e) for e in bench.dump(archive, "--rank", "0")
               if e["function"] == function and "polls=" in e["parameters"])


def check_polls(bench, run, archive, option):
    """Each poll in vain is counted, and others stand for the time that they took."""
    _, probes, tests = said(run)[0]
    harness.compare("left out", left_out(bench, archive)["calls"], {"MPI_Iprobe": probes, "MPI_Test": tests})
    harness.compare("what stands for them", polls_of(bench, archive, "refrain_polls"), probes + tests)
    harness.compare("polls", polls_of(bench, archive, "MPI_Iprobe") + polls_of(bench, archive, "MPI_Test"), 0)
    stand_ins = [e for e in bench.dump(archive, "--rank", "0") if e["function"] == "refrain_polls"]
    if len(stand_ins) > 3 * ROUNDS:  # a new one only where nothing was done for long
        raise harness.Failure(f"{len(stand_ins)} events for {ROUNDS} times of polling")
    if option not in run.err:
        raise harness.Failure(run.err)
    waited = test_waits.waited(test_waits.report(bench, archive), "late_sender")[0]
    if waited < 0.5 * ROUNDS * test_waits.STEP:
        raise harness.Failure(f"rank 0 waited for {waited} s only")


def test_polls(bench, flavour):
    _, full = record(bench, flavour, name="full")
    run, limited = record(bench, flavour, f"--exclude={POLLS}")
    check_rest(bench, full, limited, lambda function: False)
    check_messages(bench, full, limited)
    check_polls(bench, run, limited, "MPI_Iprobe (--exclude)")


def test_paths(bench, flavour):
    _, full = record(bench, flavour, name="full")
    for where in ("path=as?", "path=a*,file=*limits.c", "file=limits.c,path=ask"):
        _, limited = record(bench, flavour, f"--exclude=MPI_Comm_*,{where}")
        for rank in range(RANKS):
            expected = [row for row in rows(bench, full, rank)
                        if not (row[0] == "MPI_Comm_rank" and "> ask[" in row[2])]
            harness.compare(f"calls of rank {rank}", rows(bench, limited, rank), expected)
        harness.compare("left out", left_out(bench, limited)["calls"], {"MPI_Comm_rank": RANKS * ROUNDS * ASKED})
    _, limited = record(bench, flavour, "--exclude=MPI_Comm_*,path=elsewhere")
    check_rest(bench, full, limited, lambda function: False)


def test_include(bench, flavour):
    _, full = record(bench, flavour, name="full")
    run, limited = record(bench, flavour, "--include=MPI_Type_*,!MPI_Type_size")
    check_rest(bench, full, limited, lambda function: function in ("MPI_Comm_rank", "MPI_Comm_size", "MPI_Type_size"))
    check_messages(bench, full, limited)
    found = left_out(bench, limited)["calls"]
    _, probes, tests = said(run)[0]
    harness.compare("left out", found, {"MPI_Comm_rank": RANKS * (1 + ROUNDS * ASKED), "MPI_Comm_size": RANKS * ROUNDS,
                                        "MPI_Type_size": RANKS * ROUNDS, "MPI_Iprobe": probes, "MPI_Test": tests})


def test_rate(bench, flavour):
    """All calls are recorded or counted."""
    run, limited = record(bench, flavour, "--max-calls-per-second=MPI_Comm_rank:2,MPI_Iprobe:100")
    events, found = bench.dump(limited), left_out(bench, limited)["calls"]
    seconds = max(int(e["exit_ns"]) for e in events) * 1e-9
    stayed = harness.count_calls(events)
    harness.compare("calls", stayed["MPI_Comm_rank"] + found["MPI_Comm_rank"], RANKS * (1 + ROUNDS * ASKED))
    harness.compare("probes", polls_of(bench, limited, "MPI_Iprobe") + found["MPI_Iprobe"], said(run)[0][1])
    for name, rate in (("MPI_Comm_rank", 2 * RANKS), ("MPI_Iprobe", 100)):
        if not rate <= stayed[name] <= rate * (seconds + 1):
            raise harness.Failure(f"{stayed[name]} calls of {name} in {seconds} s")


def check_first_part(bench, flavour, options, arguments=()):
    """What each rank has is the first part of its full record, and the end of MPI; the archive."""
    _, full = record(bench, flavour, name="full", arguments=arguments)
    run, limited = record(bench, flavour, *options, arguments=arguments)
    total = 0
    for rank in range(RANKS):
        whole, part = rows(bench, full, rank), rows(bench, limited, rank)
        harness.compare(f"first part of rank {rank}", part[:-1], whole[:len(part) - 1])
        harness.compare("the last event", part[-1][0], "MPI_Finalize")
        total += sum(not function.startswith(OWN) for function, *_ in whole) - \
            sum(not function.startswith(OWN) for function, *_ in part)
    found = left_out(bench, limited)
    harness.compare("ranks that stopped", found["ranks_stopped"], RANKS)
    page = " ".join(bench.verb("report", limited).split())
    for text in ("2 of 2 ranks stopped recording", "was not recorded (--from, --until, --max-size or MPI_Pcontrol)"):
        if text not in page:
            raise harness.Failure(page)
    if "recording ended after" not in run.err:
        raise harness.Failure(run.err)
    return limited, total, found


def test_until(bench, flavour):
    """Segments and levels are the same moment of all ranks: nothing lacks a side."""
    for option, done in (("segment=2", 2), ("level=3", 4)):
        limited, total, found = check_first_part(bench, flavour, [f"--until={option}"])
        # Of rank 0, MPI_Test counts with those that succeed.
        tests = found["calls"]["MPI_Test"]
        others = sum(found["calls"].values()) - tests - found["calls"]["MPI_Iprobe"]
        harness.compare("calls", others + ROUNDS - done, total)
        test_waits.check_matching(test_waits.report(bench, limited), 3 * done)


def test_until_time(bench):
    """Ranks stop at one time, wherever they are then: in simulated time after two rounds and a half."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "limits.c"))
    whole = [rows(bench, test_smpi.smpi_run(bench, program, RANKS), rank) for rank in range(RANKS)]
    limited = test_smpi.smpi_run(bench, program, RANKS, env={"REFRAIN_UNTIL": "125ms"})
    for rank in range(RANKS):
        part = rows(bench, limited, rank)
        harness.compare(f"first part of rank {rank}", part[:-1], whole[rank][:len(part) - 1])
        sent = [function for function, *_ in part].count("MPI_Send")
        harness.compare("messages in time", sent, 2 * rank)  # the third is sent when the third round has passed
    found, page = left_out(bench, limited), test_waits.report(bench, limited)
    harness.compare("ranks that stopped", found["ranks_stopped"], RANKS)
    test_waits.compare_seconds("when", [found["first_stop_seconds"]], [0.125], test_waits.SLACK)
    test_waits.check_matching(page, 3 * 2 + 2, unmatched_receives=1)  # posted in the third round
    test_waits.compare_seconds("waits", test_waits.waited(page, "late_sender"), [2 * test_waits.STEP, 0],
                               test_waits.SLACK)


def test_from(bench, flavour):
    """What each rank has is the last part of its full record, without ends of what began before; nothing lacks a
    side."""
    _, full = record(bench, flavour, name="full")
    for option, function, before, messages in (("segment=3", "refrain_segment_begin", 2, 4 * 3),
                                               ("level=3", "MPI_Pcontrol", 0, 2 * 3),
                                               ("segment=1", "refrain_segment_begin", 0, ROUNDS * 3)):
        run, limited = record(bench, flavour, f"--from={option}")
        for rank in range(RANKS):
            whole, part = rows(bench, full, rank), rows(bench, limited, rank)
            at = [i for i, row in enumerate(whole) if row[0] == function][before]
            last = whole[at:]
            if function == "MPI_Pcontrol":
                last.remove(next(row for row in last if row[0] == "refrain_segment_end"))
            harness.compare(f"rank {rank}, {option}", part, [whole[0], *last])
        test_waits.check_matching(test_waits.report(bench, limited), messages)
        harness.compare("did not begin", "did not begin" in run.err, False)
        if f"--from={option}" not in bench.verb("info", limited):
            raise harness.Failure("info does not say that recording began later")
        harness.compare("ranks that stopped", left_out(bench, limited)["ranks_stopped"], 0)


def test_from_until(bench, flavour):
    """A part in the middle."""
    _, full = record(bench, flavour, name="full")
    _, limited = record(bench, flavour, "--from=segment=2", "--until=segment=4")
    for rank in range(RANKS):
        whole, part = rows(bench, full, rank), rows(bench, limited, rank)
        begins = [i for i, row in enumerate(whole) if row[0] == "refrain_segment_begin"]
        ends = [i for i, row in enumerate(whole) if row[0] == "refrain_segment_end"]
        harness.compare(f"rank {rank}", part, [whole[0], *whole[begins[1]:ends[3] + 1], whole[-1]])
    test_waits.check_matching(test_waits.report(bench, limited), 3 * 3)


def test_from_never(bench, flavour):
    """The program's own MPI_Pcontrol does not switch recording on before."""
    run, limited = record(bench, flavour, f"--from=segment={ROUNDS + 1}")
    if f"recording did not begin: the program did not come to --from=segment={ROUNDS + 1}" not in run.err:
        raise harness.Failure(run.err)
    for rank in range(RANKS):
        harness.compare("events", [function for function, *_ in rows(bench, limited, rank)],
                        ["MPI_Init", "MPI_Finalize"])


def test_from_and_control(bench, flavour):
    """The program's own MPI_Pcontrol(1) does not begin it, nor is it told to readers."""
    _, archive = bench.record(flavour, 2, [bench.program("pcontrol", flavour)], ["--from=segment=1"],
                              env={"EXPECT_OUT": bench.fresh("log")})
    harness.compare("events", {event["function"] for event in bench.dump(archive)}, {"MPI_Init", "MPI_Finalize"})
    page = test_waits.report(bench, archive)
    harness.compare("all is unrecorded", all(r["unrecorded_seconds"] > 0 and r["outside_seconds"] < r["unrecorded_seconds"]
                                             for r in page["time_per_rank"]), True)


def test_size(bench, flavour):
    arguments = ["150000"]
    limited, total, found = check_first_part(bench, flavour, ["--max-size=1M", "--until=1h"], arguments)
    harness.compare("left out", found["calls"], {"MPI_Sendrecv": total})
    size = os.path.getsize(limited)
    if not (1 << 18) < size <= 1 << 20:
        raise harness.Failure(f"{size} bytes")
    matching = test_waits.report(bench, limited)["matching"]
    lacking = matching["unmatched_sends"] + matching["unmatched_receives"]
    harness.compare("messages lack a side where one rank stopped earlier", matching["matched"] + lacking,
                    matching["messages"] + matching["unmatched_receives"])


def test_nothing_to_leave_out(bench, flavour):
    """Limits that are not reached change nothing."""
    _, full = record(bench, flavour, name="full")
    run, limited = record(bench, flavour, "--until=1h", "--max-size=1G", "--max-calls-per-second=MPI_Type_*:1000")
    check_rest(bench, full, limited, lambda function: False)
    found = left_out(bench, limited)
    harness.compare("left out", (found["calls"], found["ranks_stopped"]), ({}, 0))
    harness.compare("said", "left out" in run.err, False)


def test_wrong(bench):
    """What cannot be left out soundly is refused, by name."""
    cases = (("--exclude=MPI_Send", "MPI_Send has to stay"), ("--include=MPI_Barrier", "MPI_Barrier has to stay"),
             ("--exclude=MPI_Iprobe,MPI_Wait", "MPI_Wait has to stay"),
             ("--exclude=Iprobe", "fits no function that may be left out"),
             ("--exclude=", "fits no function that may be left out"),
             ("--exclude=MPI_Iprobe,comm=x", "'comm=x' is neither a pattern"),
             ("--max-calls-per-second=MPI_Iprobe", "is no FUNCTION:N"),
             ("--max-calls-per-second=MPI_Iprobe:0", "is no FUNCTION:N"),
             ("--max-calls-per-second=MPI_Recv:5", "MPI_Recv has to stay"),
             ("--until=soon", "--until is a time since the start"), ("--until=segment=0", "--until is a time"),
             ("--from=10s", "each rank would begin at another message"), ("--from=segment=0", "--from is segment=N"),
             ("--from=level=0", "--from is segment=N"),
             ("--max-size=1K", "--max-size is a size of at least 1M"))
    for option, text in cases:
        run = bench.run([bench.refrain, "record", option, "true"])
        if run.code != 2 or text not in " ".join(run.err.split()):
            raise harness.Failure(f"{option}: {run.code} {run.err}")
    for option in ("--exclude=MPI_Iprobe", "--from=level=1", "--until=10s", "--max-size=1M"):
        for more in ("--keep-predictions=1ms", "--sample=adaptive"):
            run = bench.run([bench.refrain, "record", option, more, "true"])
            harness.compare(f"{option} {more}", run.code, 2)


def test_wrong_variable(bench, flavour):
    """A variable that is set by hand is checked as the option is."""
    run, archive = bench.record(flavour, 1, ["sh", "-c", 'REFRAIN_EXCLUDE=MPI_Send exec "$0"',
                                             bench.program("names", flavour)], [f"--mpi={flavour}"])
    if "REFRAIN_EXCLUDE: MPI_Send has to stay" not in run.err:
        raise harness.Failure(run.err)
    harness.compare("left out", left_out(bench, archive, "info"), None)


def test_list(bench):
    """Functions that may be left out have no message, request, group or window, and no part in collective calls."""
    folder = os.path.join(harness.HERE, "..", "src")
    with open(os.path.join(folder, "archive", "write", "record_limits.c"), encoding="ascii") as file:
        names = set(re.findall(r"\b[A-Z][a-z]\w+", file.read().split("local[] =")[1].split(";")[0]))
    with open(os.path.join(folder, "record", "wrap", "mpi.def"), encoding="ascii") as file:
        table = re.sub(r"\n +", " ", re.sub(r"#.*", "", file.read()))
    seen = set()
    for line in filter(str.strip, table.splitlines()):
        name, class_, flags, *arguments = line.split()
        if name not in names:
            continue
        seen.add(name)
        kinds = {part for argument in arguments for part in re.split(r"\W", argument.split(":", 1)[-1])}
        harness.compare(name, (class_, flags, kinds & {"request", "group", "message", "win", "session"} -
                               ({"session"} if name.startswith("Session_create") else set())), ("OTHER", "-", set()))
    harness.compare("unknown functions", names - seen, set())


def check_simulated(bench, exclude, name, ranks, *arguments):
    """In simulated time, all waits equal the full record's, to the nanosecond."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, name + ".c"))
    found = []
    for env in ({}, {"REFRAIN_EXCLUDE": exclude}):
        archive = test_smpi.smpi_run(bench, program, ranks, arguments, env=env)
        page = test_waits.report(bench, archive)
        found.append((page["matching"], {pattern: test_waits.waited(page, pattern)
                                         for pattern in {row["pattern"] for row in page["wait_states"]}}))
    harness.compare("left out", bool(left_out(bench, archive)["calls"]), True)
    harness.compare(f"waits of {name} {arguments}", found[1], found[0])


def test_waits_simulated(bench):
    for name, ranks, *arguments in (("waits_polls", 3), ("limits", 2), *(("waits_polling", 2, str(i)) for i in range(7))):
        check_simulated(bench, POLLS, name, ranks, *arguments)
