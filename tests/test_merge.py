"""refrain merge and refrain reduce --rank: parts of an archive, and parts put together again."""
import glob
import json
import os
import shutil

import harness
import rfn_reader
import rfn_text
import test_clusters
import test_reduce
import test_smpi

PARTS = ("2", "0,3", "1")  # of four ranks: parts that lie between each other


def taken(bench, archive, ranks, *options):
    """The path of an archive that has these ranks."""
    out = bench.fresh("part.rfn")
    told = json.loads(bench.verb("reduce", "--rank", ranks, *options, archive, "-o", out, "--json"))
    harness.compare("size", told["bytes"], os.path.getsize(out))
    return out


def merged(bench, archives, code=0, options=()):
    """The path of the archive that several make."""
    out = bench.fresh("merged.rfn")
    run = bench.run([bench.refrain, "merge", *archives, "-o", out, "--json", *options])
    harness.compare(f"exit of merge: {run.err}", run.code, code)
    told = json.loads(run.out)
    harness.compare("size", told["bytes"], os.path.getsize(out))
    harness.compare("clustered", told["clustered"], clustered_groups(bench, out) > 0)
    return out


def clustered_groups(bench, archive):
    """Groups that are stored together; the exit status of info is that of its completeness."""
    return json.loads(bench.run([bench.refrain, "info", "--json", archive]).out)["clustered_groups"]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def facts(bench, verb, archive):
    """What a verb says, but for the file itself."""
    run = bench.run([bench.refrain, verb, "--json", archive])
    told = json.loads(run.out)
    for name in ("file", "bytes", "bytes_per_event", "chunks"):
        told.pop(name, None)
    return run.code, told


def check_equal(bench, found, expected):
    """Two archives say the same; so does the independent reader."""
    bench.verb("verify", found)
    before = bench.verb("dump", expected)
    harness.compare("dump", bench.verb("dump", found) == before, True)
    read = "".join(line + "\n" for line in rfn_text.lines(rfn_reader.Archive(found)))
    harness.compare("the reader's dump", read == before, True)
    harness.compare("report", facts(bench, "report", found), facts(bench, "report", expected))


def untimed(line):
    """A line of dump without times."""
    words = line.split("\t")
    return words[:3] + words[5:]


def events_of(text, rank):
    """A rank's events in what dump prints, without times."""
    return [untimed(line) for line in text.splitlines() if line.split("\t")[1:2] == [str(rank)]]


def check_parts(bench, archive, parts=PARTS):
    """Takes an archive apart, looks at the parts, and joins them the other way round."""
    files = [taken(bench, archive, ranks) for ranks in parts]
    before = bench.verb("dump", archive)
    for ranks, part in zip(parts, files):
        first = int(ranks.replace("-", ",").split(",")[0])
        run = bench.run([bench.refrain, "dump", part])
        harness.compare("exit of dump", run.code, 3)
        events = events_of(run.out, first)
        harness.compare(f"events of rank {first}", events == events_of(before, first), True)
        harness.compare("there are events", len(events) > 0, True)
    whole = merged(bench, files[::-1])
    check_equal(bench, whole, archive)
    return whole


def test_parts(bench, flavour):
    """Communicators, datatypes, threads, regions: all are the same again."""
    for name, ranks, options, parts in (("communicators", 4, ["--volume=cpu"], PARTS),
                                        ("regions", 2, ["--time=none"], ("1", "0")),
                                        ("threads", 2, [], ("0", "1"))):
        program = bench.program(name, flavour)
        log = bench.path(f"merge.{name}.{flavour}.log")
        check_parts(bench, bench.record(flavour, ranks, [program], options,
                                        env={"EXPECT_OUT": log})[1], parts)


def test_reduced_parts(bench):
    """Of reduced and clustered archives, too: times that count from the start of the run, and those
    of several ranks in one chunk."""
    archive = test_reduce.simulated_halo(bench, 16, 40)
    parts = ("0-3,9", "4-8,12", "10-11,13-15")
    for options in (["--similarity=absDiff:20"], ["--cluster"], ["--cluster", "--segment-starts=exact"]):
        check_parts(bench, test_reduce.reduced(bench, archive, *options)[0], parts)
    shared = test_reduce.reduced(bench, archive, "--similarity=absDiff:20", "--across=50")[0]
    check_parts(bench, shared, parts)
    check_parts(bench, shared, ("1-15", "0"))


def check_clustered(bench, archive, parts):
    """An archive with clusters, taken apart and joined, has as many again, and is what `reduce --cluster` makes of
    the same without; it is no larger than before."""
    groups = clustered_groups(bench, archive)
    harness.compare("there are clusters", groups > 0, True)
    files = [taken(bench, archive, ranks) for ranks in parts]
    whole, apart = merged(bench, files), merged(bench, files, options=["--no-cluster"])
    for joined, expected in ((whole, groups), (apart, 0)):
        check_equal(bench, joined, archive)
        harness.compare("clustered groups", clustered_groups(bench, joined), expected)
    reduced = test_reduce.reduced(bench, apart, "--cluster")[0]
    harness.compare("what reduce makes of it", content(reduced) == content(whole), True)
    sizes = os.path.getsize(whole), os.path.getsize(archive), os.path.getsize(apart)
    if not sizes[0] <= sizes[1] < sizes[2]:
        raise harness.Failure(f"{sizes[0]} bytes; before {sizes[1]}, unclustered {sizes[2]}")


def test_clustered(bench):
    """Parts of one rank, which have nothing to cluster, too: they know what they come from."""
    for name, ranks, parts in (("sweep2d", 16, ("0-6,9", "7-8", "10-15")), ("ghosts", 8, [str(r) for r in range(8)]),
                               ("vcycle", 8, ("3-7", "0", "1,2"))):
        plain = test_clusters.simulate(bench, name, ranks, "full")
        check_clustered(bench, test_reduce.reduced(bench, plain, "--cluster")[0], parts)
        check_clustered(bench, test_clusters.simulate(bench, name, ranks, "reduced", "yes"), parts)


def test_clustered_parts(bench):
    """Ranks that are taken out are clustered if they were, or if it is asked for; not of what was recorded without,
    which is joined to the very same chunks."""
    plain = test_clusters.simulate(bench, "ghosts", 16, "full")
    reduced = test_reduce.reduced(bench, plain, "--cluster")[0]
    for archive, options, expected in ((plain, [], 0), (plain, ["--cluster"], 12), (reduced, [], 12),
                                       (reduced, ["--no-cluster"], 0)):
        part = taken(bench, archive, "4-15", *options)
        harness.compare(f"groups of a part with {options}", clustered_groups(bench, part), expected)
        if options == ["--cluster"]:
            harness.compare("either way", content(part) == content(taken(bench, reduced, "4-15")), True)
        if options == ["--no-cluster"]:  # which is not forgotten
            rest = taken(bench, archive, "0-3", *options)
            harness.compare("joined", clustered_groups(bench, merged(bench, [part, rest])), 0)
    files = [taken(bench, plain, ranks) for ranks in ("7-15", "0,2-6", "1")]
    check_same_chunks(merged(bench, files), plain)
    harness.compare("asked for", clustered_groups(bench, merged(bench, files, options=["--cluster"])), 16)


def check_same_chunks(found, expected):
    """All but META, which no longer knows what merging moved, and the table of contents with their places."""
    chunks = [{(chunk.type, chunk.id): chunk.payload
               for chunk in rfn_reader.listed_chunks(data, rfn_reader.read_header(data)[0], True)}
              for data in (content(found), content(expected))]
    harness.compare("chunks", sorted(chunks[0]), sorted(chunks[1]))
    for key, payload in chunks[1].items():
        if key[0] not in (rfn_reader.META, rfn_reader.TOC):
            harness.compare(f"chunk {key}", chunks[0][key] == payload, True)


def test_clustered_no_temporary_file(bench):
    """Clusters are made in one: without it an error, and nothing of that name."""
    archive = test_reduce.reduced(bench, test_clusters.simulate(bench, "sweep2d", 16, "full"), "--cluster")[0]
    out = bench.fresh("nowhere.rfn")
    run = bench.run([bench.refrain, "reduce", "--rank=0-7", archive, "-o", out],
                    env={"TMPDIR": bench.path("no-such-folder")})
    harness.compare(f"exit: {run.err}", (run.code, "TMPDIR" in run.err, os.path.exists(out)), (1, True, False))


def test_parts_of_parts(bench):
    """Parts of parts, and what has been merged of some."""
    archive = test_reduce.simulated_halo(bench, 16, 20)
    low, high = taken(bench, archive, "0-9"), taken(bench, archive, "10-15")
    middle = taken(bench, low, "3-5,8")
    rest = merged(bench, [taken(bench, low, "0-2,6-7"), high, taken(bench, low, "9")], code=3)
    check_equal(bench, merged(bench, [middle, rest]), archive)


def test_shared_times(bench):
    """A rank that has another one's times, by that one's clock, is not taken out without it."""
    halo = test_smpi.smpi_program(bench, test_reduce.HALO)
    archive = test_smpi.smpi_run(bench, halo, 4, ["20", "4"],
                                 {"REFRAIN_TIME": "reduced", "REFRAIN_ACROSS": "one"})
    expect(bench, 1, "rank 1 has the times of rank 0", "reduce", "--rank=1-3", archive, "-o",
           bench.fresh("orphans.rfn"))
    run = bench.run([bench.refrain, "dump", taken(bench, archive, "0,2")])
    kept = [line for line in bench.verb("dump", archive).splitlines()
            if line.split("\t")[1] in ("rank", "0", "2")]
    harness.compare("dump of the others", run.out.splitlines() == kept, True)


def test_long_list(bench):
    """Times that ranks may share are copied as they are where their list is too long to be decoded."""
    program = bench.program("long_loop", "openmpi")
    _, archive = bench.record("openmpi", 1, [program, "4300000"],
                              ["--time=reduced", "--similarity=absDiff:1000000000", "--across=one"])
    part = taken(bench, archive, "0")
    bench.verb("verify", part)
    harness.compare("events", json.loads(bench.verb("info", "--json", part))["events"], 4300002)


def aborted(bench, flavour, options):
    """The archives that the ranks left, each its own."""
    archive = bench.fresh("aborted.rfn")
    bench.run([*harness.FLAVOURS[flavour].launch(4), bench.refrain, "record", "-o", archive,
               *options, bench.program("all_abort", flavour)], env={"ABORTS": "all"}, timeout=60)
    return sorted(glob.glob(archive[:-len(".rfn")] + ".rank*.rfn"))


def test_aborted(bench):
    """A run that all ranks abort: together they have what a run leaves that ends well. MPI may end a
    rank before it has saved anything; then that one is missing."""
    for options in (["--time=full"], ["--time=reduced"]):
        files = aborted(bench, "openmpi", options)
        ranks = [int(file.split(".rank")[1].split(".")[0]) for file in files]
        code = 0 if len(files) == 4 else 3
        whole = merged(bench, files[::-1], code)
        events = [line.split("\t") for line in bench.run([bench.refrain, "dump", whole]).out
                  .splitlines()[1:]]
        for rank in ranks:
            own = [event for event in events if event[1] == str(rank)]
            harness.compare(f"calls of {rank}", len(own), 5 + 2 * 13 + rank + 4)
            harness.compare("the last one", own[-1][5], "MPI_Abort")
            harness.compare("the communicator", own[3][6],
                            f"comm=world color={rank % 2} key={-rank} newcomm=comm#{2 + rank % 2}")
    later = aborted(bench, "openmpi", ["--time=reduced"])
    two_runs = [files[0], next(file for file in later if file[-5:] != files[0][-5:])]
    expect(bench, 1, f"the files are of 2 runs: of one run are {two_runs[0]}; of another one are {two_runs[1]}",
           "merge", *two_runs, "-o", bench.fresh("mixed.rfn"))


def test_aborted_times(bench):
    """What each rank leaves alone, in simulated time: together the run as it would have been."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "all_abort.c"))
    full = test_smpi.smpi_run(bench, program, 4)
    expected = [line for line in bench.verb("dump", full).splitlines() if "MPI_Finalize" not in line]
    files = []
    for rank in range(4):
        archive = bench.path("alone.rfn")
        platform = bench.path("platform.xml")
        bench.run(["smpirun", "-np", "4", "-platform", platform,
                   "--cfg=smpi/simulate-computation:no", program],
                  env={"REFRAIN_TIME": "full", "REFRAIN_OUTPUT": archive, "REFRAIN_FORCE": "1",
                       "ABORTS": str(rank)})
        files.append(bench.path(f"alone.rank{rank}.rfn"))
    found = bench.verb("dump", merged(bench, files[1:] + files[:1])).splitlines()
    kept = [line for line in found if "MPI_Abort" not in line]
    harness.compare("calls of MPI_Abort", len(found) - len(kept), 4)
    harness.compare("the others", kept, expected)
    joined = [content(merged(bench, files, options=options)) for options in ([], ["--cluster"], ["--no-cluster"])]
    harness.compare("clustered as the run would have been", (joined[0] == joined[1], joined[0] == joined[2]),
                    (True, False))


def expect(bench, code, text, *words):
    run = bench.run([bench.refrain, *words])
    if run.code != code or text not in run.err:
        raise harness.Failure(f"{' '.join(words)}: exit {run.code}, {run.err}")


def test_refused(bench, flavour):
    """What is not of one run, is there twice, or not whole: each with its reason."""
    archive = test_reduce.halo(bench, flavour, 4, 5)
    other = test_reduce.halo(bench, flavour, 4, 6)
    fewer = test_reduce.halo(bench, flavour, 2, 5)
    low, high = taken(bench, archive, "0-1"), taken(bench, archive, "2-3")
    out = bench.fresh("out.rfn")
    expect(bench, 2, "which files?", "merge", "-o", out)
    expect(bench, 2, "where to?", "merge", low)
    expect(bench, 1, f"rank 1 is in two archives: {low} and", "merge", low,
           taken(bench, archive, "1"), "-o", out)
    expect(bench, 1, "the files are of 2 runs", "merge", low, taken(bench, other, "2"), "-o", out)
    expect(bench, 1, "the files are of 2 runs", "merge", low, fewer, "-o", out)
    expect(bench, 3, "not a Refrain archive", "merge", low, bench.program("late", flavour), "-o", out)
    expect(bench, 1, "No such file", "merge", low, "no-such.rfn", "-o", out)
    expect(bench, 2, "is the archive that is read", "merge", low, high, "-o", high)
    cut = bench.path("cut.rfn")
    shutil.copy(high, cut)
    os.truncate(cut, os.path.getsize(high) - 20)
    expect(bench, 3, "only whole archives", "merge", low, cut, "-o", out)
    expect(bench, 3, "only whole archives", "reduce", "--rank=2", cut, "-o", out)
    expect(bench, 2, "is not a list of ranks", "reduce", "--rank=a", archive, "-o", out)
    expect(bench, 2, "there is no rank 4", "reduce", "--rank=0,4", archive, "-o", out)
    expect(bench, 1, "none of these ranks", "reduce", "--rank=2", low, "-o", out)
    for option in (["--similarity=jitter"], ["--cluster", "--expression=r"], ["--cluster", "--ignore-parameter=peer"]):
        expect(bench, 2, "copies ranks unchanged", "reduce", "--rank=0", *option, archive, "-o", out)
    expect(bench, 2, "--no-cluster goes with --rank", "reduce", "--no-cluster", archive, "-o", out)
    expect(bench, 2, "--no-cluster exclude each other", "reduce", "--rank=0", "--cluster", "--no-cluster", archive, "-o", out)
    expect(bench, 2, "--no-cluster exclude each other", "merge", "--cluster", "--no-cluster", low, high, "-o", out)
    harness.compare("an archive after all", os.path.exists(out), False)
    expect(bench, 3, "ranks 2-3 are in none of these archives", "merge", low, "-o", out)
    expect(bench, 1, "--force replaces it", "merge", low, high, "-o", out)
    bench.verb("merge", low, high, "-o", out, "-f")
    check_equal(bench, out, archive)
