"""Forced merging while recording (refrain record --ignore-parameter): what recording and then reducing gives."""
import json
import os
import re
import shutil

import harness
import test_clusters
import test_online_merge
import test_reader
import test_replay
import test_smpi

SIMULATED = True
ALL = "peer,root,count,exact,comm,place,tag"
TOLD = "some parameters are those of the lowest rank of each cluster"
NOT_MERGED = "no parameters were merged"


EQUAL = (f"{NOT_MERGED}, as those of ranks with the same loops are equal; lists, and what has more than 64 values on a "
         "rank, stay each rank's own")
TOO_LARGE = (f"of 1 of 8 groups {NOT_MERGED}, as they are too large for clusters, or clusters make the archive no "
             "smaller")
# Of the inputs of the programs here.
ROLES = {"peer": ("source", "dest"), "root": ("root",), "count": ("count", "sendcount", "recvcount"),
         "exact": ("datatype", "sendtype", "recvtype", "op"), "comm": ("comm",), "place": ("color", "key"),
         "tag": ("tag", "sendtag", "recvtag")}


def info(bench, archive):
    return json.loads(bench.verb("info", "--json", archive))


def simulate(bench, name, ranks, names, time="full"):
    """A program that recorded itself with merged parameters; what it said, and the archive."""
    program = test_clusters.PROGRAMS[name]
    compiled = test_smpi.smpi_program(bench, program.source)
    run, made = test_smpi.smpi_launch(bench, compiled, ranks, program.arguments,
                                      {"REFRAIN_TIME": time, "REFRAIN_IGNORE_PARAMETER": names})
    archive = bench.fresh(f"{name}.forced.rfn")
    shutil.move(made, archive)
    bench.verb("verify", archive)
    return run.err, archive


def reduced(bench, archive, names):
    return test_clusters.clustered(bench, archive, f"--ignore-parameter={names}")


def without_times(bench, archive):
    """The lines of a dump but for when events began and ended."""
    return [b"\t".join(line.split(b"\t")[:3] + line.split(b"\t")[5:])
            for line in test_reader.dump(bench, archive)]


def changed(bench, plain, merged):
    """The roles of parameters that some rank has otherwise, as what an archive says of it; None: there are none."""
    pairs = [(one, other) for one, other in zip(bench.dump(plain), bench.dump(merged))
             if one["parameters"] != other["parameters"]]
    found = [role for role, names in ROLES.items() if any(harness.parameter(one, name) != harness.parameter(other, name)
                                                          for one, other in pairs for name in names)]
    return ",".join(found) or None


def tells(text, names, otherwise=EQUAL):
    """Whether this says that these parameters are merged, or that none are."""
    return (f"{TOLD} ({names})" in text, NOT_MERGED in text) == (True, False) if names else \
        (TOLD in text, otherwise in text) == (False, True)


def check_alike(bench, what, recorded, expected, names):
    """Both say that these parameters are merged, or nothing of it if there are none, and of the same groups."""
    for path in (recorded, expected):
        facts = info(bench, path)
        harness.compare(f"{what}: merged", facts["ignored_parameters"], names)
        harness.compare(f"{what}: groups", facts["clustered_groups"], facts["groups"])
        told = bench.run([bench.refrain, "dump", path], check=True).err
        harness.compare(f"{what}: dump tells", (TOLD in told, f"({names})" in told), (names is not None,) * 2)


def report(bench, archive):
    facts = json.loads(bench.verb("report", "--json", archive))
    for key in ("file", "bytes", "archive", "command"):
        facts.pop(key, None)
    return facts


def test_simulated(bench):
    """All programs, with all that can be merged: the same dump, times included, and the same report. What is said to
    be merged is what is not as it was."""
    merged = {}
    for name in test_clusters.PROGRAMS:
        ranks = 12 if name == "pairwise" else 16
        plain = test_clusters.simulate(bench, name, ranks, "full")
        told, recorded = simulate(bench, name, ranks, ALL)
        expected = reduced(bench, plain, ALL)
        merged[name] = changed(bench, plain, expected)
        check_alike(bench, name, recorded, expected, merged[name])
        harness.compare(f"{name}: told {told}", tells(told, merged[name]), True)
        harness.compare(f"{name}: dumps", test_reader.dump(bench, recorded) ==
                        test_reader.dump(bench, expected), True)
        test_reader.compare(bench, recorded, name)
        found, wanted = report(bench, recorded), report(bench, expected)
        for key in {**found, **wanted}:
            harness.compare(f"{name}: {key} in the report", found.get(key), wanted.get(key))
    # Known of these: nobody has a partner at another distance, everybody has another colour, another amount.
    harness.compare("merged", [merged[name] for name in ("sweep2d", "open_ring", "transpose", "ghosts")],
                    [None, None, "place", "peer,count"])


def test_simulated_roles(bench):
    """Single roles: the sub-clusters that doc/clustering.md tells, and not a word of the other parameters lost."""
    for name, ranks, names, before, after in (("ghosts", 16, "peer,count", 16, 1),
                                              ("workers", 6, "peer,count,tag", 6, 2),
                                              ("transpose", 16, "place", 16, 1)):
        plain = test_clusters.simulate(bench, name, ranks, "none")
        _, recorded = simulate(bench, name, ranks, names, "none")
        harness.compare(f"{name}: dumps", test_reader.dump(bench, recorded) ==
                        test_reader.dump(bench, reduced(bench, plain, names)), True)
        found = [test_clusters.clusters(bench, path)["sub_clusters"] for path in (plain, recorded)]
        harness.compare(f"{name}: sub-clusters", found, [before, after])


def test_names_in_order(bench):
    """However they are given; and without them nothing is merged, nor said of it."""
    _, archive = simulate(bench, "ghosts", 16, "tag,count,tag,peer,count")
    harness.compare("names", info(bench, archive)["ignored_parameters"], "peer,count")
    told, archive = simulate(bench, "ghosts", 16, "")
    harness.compare("without", (info(bench, archive)["ignored_parameters"], "parameters" in told),
                    (None, False))
    harness.compare("dump without", test_reader.dump(bench, archive) ==
                    test_reader.dump(bench, test_clusters.simulate(bench, "ghosts", 16, "full")), True)


def test_more_is_merged_later(bench):
    """What is merged while recording and what is merged afterwards is what is merged at once."""
    _, archive = simulate(bench, "ghosts", 16, "count")
    later = reduced(bench, archive, "peer")
    expected = reduced(bench, test_clusters.simulate(bench, "ghosts", 16, "full"), "peer,count")
    check_alike(bench, "later", later, expected, "peer,count")
    harness.compare("dumps", test_reader.dump(bench, later) == test_reader.dump(bench, expected), True)


def test_refused_by_replay(bench):
    """It is refused as what `reduce` writes is."""
    _, archive = simulate(bench, "ghosts", 16, "peer")
    run = test_replay.simulated_replay(bench, 16, archive)
    harness.compare("replayed", (run.code != 0, "messages may not match" in run.err,
                                 "received as recorded" in run.out), (True, True, False))


@harness.long
def test_real(bench, flavour):
    """Under a real MPI, where times differ from run to run."""
    for name, names in (("ghosts", "peer,count"), ("transpose", "comm,place"), ("sweep2d", ALL)):
        program = test_clusters.PROGRAMS[name]
        command = [bench.program(program.source, flavour), *program.arguments]
        for time in ("none", "reduced"):
            run, recorded = bench.record(flavour, 4, command, [f"--time={time}", f"--ignore-parameter={names}"])
            _, plain = bench.record(flavour, 4, command, [f"--time={time}", "--no-cluster"])
            bench.verb("verify", recorded)
            test_reader.compare(bench, recorded, name)
            expected = reduced(bench, plain, names)
            if time == "none":
                merged = changed(bench, plain, expected)
                check_alike(bench, name, recorded, expected, merged)
                harness.compare(f"{name}: told {run.err}", tells(run.err, merged), True)
            harness.compare(f"{name}: dumps", without_times(bench, recorded) ==
                            without_times(bench, expected), True)


def test_rank_0_decides(bench, flavour):
    """The first program's option counts, whatever the others say."""
    ghosts = bench.program(test_clusters.PROGRAMS["ghosts"].source, flavour)
    launch = harness.FLAVOURS[flavour].mpirun
    for first, others, merged in ((["--ignore-parameter=peer,count"], ["--ignore-parameter=tag"], "peer,count"),
                                  (["--ignore-parameter=peer,count"], [], "peer,count"),
                                  ([], ["--ignore-parameter=peer,count"], None)):
        archive = bench.fresh("first.rfn")
        record = [bench.refrain, "record", "--time=none", "-f", "-o", archive]
        run = bench.run([*launch, "-n", "1", *record, *first, ghosts, "1", ":",
                         "-n", "5", *record, *others, ghosts, "1"], check=True)
        bench.verb("verify", archive)
        harness.compare(f"{first} {others}", (info(bench, archive)["ignored_parameters"], TOLD in run.err),
                        (merged, bool(merged)))


def test_children(bench):
    """Processes that the program starts are recorded with the option of those that start them."""
    folder = bench.path("forced-children")
    os.makedirs(folder)
    shutil.copy(bench.program("spawn", "openmpi"), os.path.join(folder, "app"))
    run = bench.run([*harness.FLAVOURS["openmpi"].launch(2), bench.refrain, "record", "-o", "x.rfn",
                     "--ignore-parameter=tag,peer", "./app", "one", "./app"], cwd=folder,
                    tidy=harness.tidies(folder),
                    env={"EXPECT_OUT": os.path.join(folder, "log"), "EXPECT_ARCHIVE": "x.spawn1.rfn"})
    harness.compare(f"exit status of {run.err}", run.code, 0)
    told = re.findall(r"refrain: (?:some|no) parameters .*", run.err)
    harness.compare(f"both jobs tell: {run.err}", len(told), 2)


def test_too_large(bench):
    """What is not brought to rank 0 keeps its own parameters, and that is said."""
    program = test_smpi.smpi_program(bench, os.path.join(test_clusters.FOLDER, "one_large.c"))
    archives = []
    for env in ({"REFRAIN_CLUSTER": "no"}, {"REFRAIN_IGNORE_PARAMETER": ALL}):
        run, made = test_smpi.smpi_launch(bench, program, 8, ["100000"], {"REFRAIN_TIME": "none", **env})
        archives.append(bench.fresh("large.rfn"))
        os.rename(made, archives[-1])
    archives.append(bench.fresh("large.reduced.rfn"))
    told = bench.verb("reduce", "--cluster", f"--ignore-parameter={ALL}", archives[0], "-o", archives[2])
    harness.compare("amounts are merged", changed(bench, archives[0], archives[2]), "count")
    for archive in archives[1:]:
        facts = info(bench, archive)
        harness.compare("merged", (facts["ignored_parameters"], facts["clustered_groups"]), ("count", 7))
    harness.compare(f"told: {run.err}", (f"{TOLD} (count)" in run.err, TOO_LARGE in run.err), (True, True))
    harness.compare(f"told by reduce: {told}", (NOT_MERGED + ", as those" in told, TOO_LARGE in told), (False, True))
    facts = json.loads(bench.verb("reduce", "--json", "--cluster", f"--ignore-parameter={ALL}", archives[0],
                                  "-o", bench.fresh("again.rfn")))
    harness.compare("reduce --json", (facts["ignored"], facts["unmerged_groups"]), (True, 1))
    dumps = [test_reader.dump(bench, path) for path in archives[1:]]
    harness.compare("dumps", dumps[0] == dumps[1], True)


def test_nothing_to_merge(bench):
    """Where there are no clusters nothing is merged: that is said, and the archive says nothing of it. Of a
    structure that did not even come to rank 0 it is known why."""
    program = test_smpi.smpi_program(bench, os.path.join(test_clusters.FOLDER, "one_large.c"))
    either = f"{NOT_MERGED}, as what ranks did is too large for clusters, or clusters make the archive no smaller\n"
    for quiet, calls, why in (("0", "100000", either), ("1", "100000", None),
                              ("0", "400000", f"{NOT_MERGED}, as what ranks did is too large for clusters\n")):
        run, archive = test_smpi.smpi_launch(bench, program, 1, [calls],
                                             {"REFRAIN_TIME": "none", "REFRAIN_IGNORE_PARAMETER": ALL,
                                              "REFRAIN_QUIET": quiet})
        facts = info(bench, archive)
        harness.compare("merged", (facts["ignored_parameters"], facts["clustered_groups"]), (None, 0))
        harness.compare(f"told: {run.err}", (NOT_MERGED in run.err, why is None or why in run.err, TOLD in run.err),
                        (why is not None, True, False))


def test_too_many_values(bench):
    """Ranks differ in counts of which each has more than 64: those stay, and it is not said that they are equal."""
    program = test_smpi.smpi_program(bench, os.path.join(test_clusters.FOLDER, "many_counts.c"))
    run, archive = test_smpi.smpi_launch(bench, program, 4, [],
                                         {"REFRAIN_TIME": "none", "REFRAIN_IGNORE_PARAMETER": "count"})
    differ = bench.verb("info", "--clusters", archive)
    harness.compare(f"they differ: {differ}", re.search(r"ranks of a cluster differ\n.*\n *least sendcount", differ) is not None,
                    True)
    harness.compare(f"told: {run.err}", (EQUAL + "\n" in run.err, "of each cluster are equal" in run.err),
                    (True, False))
    again = ["--cluster", "--ignore-parameter=count", "-o", bench.fresh("again.rfn"), "--force"]
    told = bench.verb("reduce", archive, *again)  # as good as it was
    harness.compare(f"told by reduce: {told}", f"{NOT_MERGED}, as that makes the archive no smaller\n" in told, True)
    _, plain = test_smpi.smpi_launch(bench, program, 4, [], {"REFRAIN_TIME": "none", "REFRAIN_CLUSTER": "no"})
    told = bench.verb("reduce", plain, *again)
    harness.compare(f"told by reduce: {told}", EQUAL + "\n" in told, True)


def test_abort(bench, flavour):
    """A rank that ends alone merges nothing, though its threads are alike and clusters are made of them."""
    program = bench.program("aborting_threads", flavour)
    dumps = []
    for options in (["--ignore-parameter=" + ALL], []):
        archive = bench.fresh("aborted.rfn")
        run = bench.run([*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", "--time=none", "-o", archive,
                         *options, program])
        left = archive.replace(".rfn", ".rank1.rfn")
        if not os.path.exists(left):
            raise harness.Failure(f"exit {run.code}: {run.err}")
        facts = json.loads(bench.run([bench.refrain, "info", "--json", left]).out)  # of one rank: incomplete
        harness.compare("merged", facts["ignored_parameters"], None)
        harness.compare("clusters", facts["clustered_groups"] > 1, True)
        dumps.append(bench.run([bench.refrain, "dump", left]).out)
    harness.compare("dumps", dumps[0] == dumps[1] and "sendcount" in dumps[0], True)


def test_cluster_every(bench):
    """Together with --merge-interval."""
    _, plain = test_online_merge.record(bench, "openmpi", ["25"], ["--no-cluster", "--time=none"])
    _, merged = test_online_merge.record(bench, "openmpi", ["25"], ["--merge-interval=3", "--time=none",
                                                                   f"--ignore-parameter={ALL}"])
    bench.verb("verify", merged)
    expected = reduced(bench, plain, ALL)
    harness.compare("dumps", test_reader.dump(bench, merged) == test_reader.dump(bench, expected), True)


def test_wrong(bench):
    """Names that are none, none, and what goes together with no clusters."""
    ghosts = bench.program(test_clusters.PROGRAMS["ghosts"].source, "openmpi")
    for options, text in ((["--ignore-parameter=peer,cont"], "no parameters 'cont'"),
                          (["--ignore-parameter="], "no parameters ''"),
                          (["--ignore-parameter=peer", "--no-cluster"],
                           "--ignore-parameter is about clustering, which --no-cluster leaves out")):
        archive = bench.fresh("wrong.rfn")
        run = bench.run([bench.refrain, "record", "-o", archive, *options, ghosts])
        harness.compare(f"{options}: {run.err}", (run.code, text in run.err, os.path.exists(archive)),
                        (2, True, False))
    told, archive = simulate(bench, "ghosts", 4, "peer,cont")
    harness.compare(f"by hand: {told}", "REFRAIN_IGNORE_PARAMETER: there are no parameters 'cont'" in told, True)
    harness.compare("merged", info(bench, archive)["ignored_parameters"], None)
