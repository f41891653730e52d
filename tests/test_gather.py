"""refrain gather: the text of ranks, spread over folders of hosts, becomes the archive that refrain convert makes of all
of it in one place, whatever the tree."""
import json
import os
import shutil
import subprocess

import harness
import test_convert

RANKS = 8
HOSTS = 2  # pretended: a folder each


def lines_of(rank):
    """A ring, with sizes that change from step to step, and calls with a count per rank."""
    yield "init"
    for step in range(50):
        yield f"compute {1000 * (rank + 1) + 7 * step}"
        yield f"irecv {(rank - 1) % RANKS} 0 {1000 + step % 3}"
        yield f"isend {(rank + 1) % RANKS} 0 {1000 + step % 3}"
        yield "waitall"
        yield "allreduce 10 5"
    yield f"gatherv {rank + 1} {' '.join(str(other + 1) for other in range(RANKS))} 2"
    yield f"alltoallv 9 {f'{rank + 1} ' * RANKS}9 {' '.join(str(other + 1) for other in range(RANKS))}"
    if rank > 5:
        yield "sleep 0.5"
    yield "finalize"


def text_of(bench):
    """A list of text of all ranks, and what convert makes of it."""
    text, again = bench.fresh("app.txt"), bench.fresh("again.rfn")
    os.mkdir(text + "_files")
    with open(text, "w", encoding="ascii") as names:
        for rank in range(RANKS):
            print(f"{text}_files/{rank}_rank.txt", file=names)
            with open(f"{text}_files/{rank}_rank.txt", "w", encoding="ascii") as file:
                file.writelines(f"{rank} {line}\n" for line in lines_of(rank))
    test_convert.convert(bench, text, again)
    return text, again


def spread(bench, text, host_of=lambda rank: rank % HOSTS):
    """A folder with folders host0, host1... that have copies of the files of ranks."""
    folder = bench.fresh("hosts")
    for rank, file in enumerate(test_convert.files_of(text)):
        host = os.path.join(folder, f"host{host_of(rank)}")
        os.makedirs(host, exist_ok=True)
        shutil.copy(file, host)
    return folder


def gather(bench, flavour, processes, folder, *options, host="$((RANK % 2))", out=None):
    """A run whose processes each have the folder of a host, and its output."""
    out = out or bench.fresh("gathered.rfn")
    script = f'RANK=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; exec "$0" gather "$1/host{host}" -o "$2" "${{@:3}}"'
    return bench.run([*harness.FLAVOURS[flavour].launch(processes), "bash", "-c", script, bench.refrain, folder, out,
                      *options]), out


def check_same(bench, archive, expected):
    """The same calls in the same order, and the same text of them."""
    harness.compare("events", bench.dump(archive), bench.dump(expected))
    texts = [bench.fresh("text.txt") for _ in range(2)]
    for source, text in zip((archive, expected), texts):
        test_convert.convert(bench, source, text, "--one-file")
    harness.compare("text", *map(test_convert.opened, texts))
    bench.verb("verify", archive)


def check_gathered(bench, run, out, expected, **facts):
    harness.compare(f"exit: {run.err}", run.code, 0)
    told = json.loads(run.out)
    harness.compare("told", {name: told[name] for name in facts}, facts)
    harness.compare("file, bytes", (told["file"], told["bytes"]), (out, os.path.getsize(out)))
    check_same(bench, out, expected)


def check_refused(run, out, code, *said):
    """Launchers of MPICH give an exit status of several ranks' made together."""
    if run.code != code or not all(word in run.err for word in said) or run.err.count("refrain: ") != 1:
        raise harness.Failure(f"exit {run.code}, not {code}, or not {said} once: {run.err}")
    if os.path.exists(out):
        raise harness.Failure(f"{out} was written")


def test_hosts(bench, flavour):
    """4 processes on 2 hosts."""
    text, expected = text_of(bench)
    run, out = gather(bench, flavour, 4, spread(bench, text), "--json")
    check_gathered(bench, run, out, expected, ranks=RANKS, processes=4, nodes=1, arity=4, steps=1,
                   bytes_before=sum(map(os.path.getsize, test_convert.files_of(text))))


def test_shared(bench, flavour):
    """All processes see all files, or some hosts have copies: each is taken once."""
    text, expected = text_of(bench)
    run, out = gather(bench, flavour, 3, spread(bench, text, lambda rank: 0), "--json", host="0")
    check_gathered(bench, run, out, expected, ranks=RANKS)
    folder = spread(bench, text)
    for file in test_convert.files_of(text)[:5]:
        shutil.copy(file, os.path.join(folder, "host1"))
    run, out = gather(bench, flavour, 4, folder, "--json")
    check_gathered(bench, run, out, expected, ranks=RANKS)


def test_compressed(bench):
    """Plain, gzip and zstd, one of them twice; other files in the folder, and hosts without any."""
    text, expected = text_of(bench)
    folder = spread(bench, text, lambda rank: 0)
    for rank, command in ((1, ["gzip"]), (3, ["zstd", "-q", "--rm"]), (4, ["zstd", "-q"])):
        subprocess.run([*command, os.path.join(folder, "host0", f"{rank}_rank.txt")], check=True)
    os.rename(os.path.join(folder, "host0", "5_rank.txt"), os.path.join(folder, "host0", "SG_process5.trace"))
    shutil.copy(text, os.path.join(folder, "host0", "list.txt"))
    shutil.copy(expected, os.path.join(folder, "host0", "app.rfn"))
    run, out = gather(bench, "mpich", 3, folder, "--json", host="$RANK")
    check_gathered(bench, run, out, expected, ranks=RANKS, passed_over=1)
    harness.compare("the list", f"the first is {folder}/host0/list.txt" in run.err, True)


def test_arity(bench):
    """Trees of 7 processes, where some have no file."""
    text, expected = text_of(bench)
    folder = spread(bench, text, lambda rank: rank % 5)
    for arity, steps in ((2, 3), (3, 2), (8, 1)):
        run, out = gather(bench, "openmpi", 7, folder, "--json", f"--arity={arity}", host="$RANK")
        check_gathered(bench, run, out, expected, arity=arity, steps=steps, processes=7)
    run, out = gather(bench, "openmpi", 7, spread(bench, text, lambda rank: 6), "--json", "--arity=2", host="$RANK")
    check_gathered(bench, run, out, expected)


def test_nodes(bench):
    """Processes of 3 simulated hosts, which do not follow each other: those of a host are neighbours in the tree."""
    text, expected = text_of(bench)
    out, platform, hosts = bench.fresh("nodes.rfn"), bench.path("platform.xml"), bench.path("nodes")
    for path, content in ((platform, test_convert.PLATFORM), (hosts, "h0\nh1\nh0\nh2\nh1\nh2\n")):
        with open(path, "w", encoding="ascii") as file:
            file.write(content)
    command = ["smpirun", "-np", "6", "-platform", platform, "-hostfile", hosts, "--log=root.thresh:error",
               os.path.join(bench.build, "lib", "refrain-gather-smpi"), text + "_files", out]
    run = bench.run([*command, "--json", "--arity=2"])
    check_gathered(bench, run, out, expected, ranks=RANKS, processes=6, nodes=3, steps=3)
    with open(f"{text}_files/5_rank.txt", "a", encoding="ascii") as file:
        file.write("5 put\n")
    run = bench.run([*command, "--force"])
    if run.code != 3 or f"refrain: h2: {text}_files/5_rank.txt:" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")


def test_alone(bench):
    """Without a launcher; the text that is printed."""
    text, expected = text_of(bench)
    out = bench.fresh("alone.rfn")
    said = bench.verb("gather", text + "_files", "-o", out)
    if not said.startswith(f"{out}: {RANKS} ranks, ") or "; 1 process on 1 node" not in said:
        raise harness.Failure(said)
    check_same(bench, out, expected)
    for options, code, word in (([], 1, "--force replaces it"), (["--force"], 0, ""), (["--force", "--ranks=9"], 3, "rank 8"),
                                (["--force", "--ranks=7"], 3, "of rank 7, but --ranks=7 means ranks 0 to 6")):
        run = bench.run([bench.refrain, "gather", text + "_files", "-o", out, *options])
        harness.compare(f"exit and text of {options}: {run.err}", (run.code, word in run.err), (code, True))
    check_same(bench, out, expected)


def test_missing(bench, flavour):
    text, _ = text_of(bench)
    folder = spread(bench, text)
    for rank in (2, 5, 6):
        os.remove(os.path.join(folder, f"host{rank % HOSTS}", f"{rank}_rank.txt"))
    check_refused(*gather(bench, flavour, 4, folder), 3, "no process finds the text of ranks 2,5-6")
    check_refused(*gather(bench, flavour, 2, folder + "/none"), 1, "no process finds time-independent text")


def test_unreadable(bench, flavour):
    """A file of the highest rank that cannot be read is no file of another kind."""
    text, _ = text_of(bench)
    folder = spread(bench, text)
    last = os.path.join(folder, "host1", f"{RANKS - 1}_rank.txt")
    os.truncate(last, 0)
    check_refused(*gather(bench, flavour, 4, folder), 3, last, "is empty")
    os.remove(last)
    os.symlink("/nowhere", last)
    check_refused(*gather(bench, flavour, 4, folder), 1, f"cannot read {last}")


def test_slurm(bench):
    """In an allocation, and in a batch script, of Slurm nothing is started yet."""
    text, expected = text_of(bench)
    for name, env in (("shell", {"SLURM_NTASKS": "4"}), ("batch", {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"})):
        out = bench.path(f"{name}.rfn")
        run = bench.run([bench.refrain, "gather", text + "_files", "-o", out], env=env)
        harness.compare(f"exit: {run.err}", run.code, 0)
        check_same(bench, out, expected)
    run = bench.run([bench.refrain, "gather", text + "_files", "-o", bench.path("task.rfn")],
                    env={"SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4"})
    harness.compare(f"exit: {run.err}", (run.code, "name it: --mpi" in run.err), (2, True))


def test_contradiction(bench, flavour):
    """Two files of a rank that differ: on two hosts, and on one."""
    text, _ = text_of(bench)
    folder = spread(bench, text)
    other = os.path.join(folder, "host1", "2_rank.txt")
    shutil.copy(os.path.join(folder, "host0", "2_rank.txt"), other)
    with open(other, "a", encoding="ascii") as file:
        file.write("2 compute 1\n")
    check_refused(*gather(bench, flavour, 4, folder), 3, "rank 2 is in two files that differ", other,
                  f"{folder}/host0/2_rank.txt", " on ")
    shutil.move(other, os.path.join(folder, "host0", "again.txt"))
    check_refused(*gather(bench, flavour, 4, folder), 3, "rank 2 is in two files that differ", "host0/again.txt")


def test_bad_text(bench, flavour):
    """What is wrong with a file one process finds, and all end."""
    text, _ = text_of(bench)
    folder = spread(bench, text)
    bad = os.path.join(folder, "host1", "7_rank.txt")
    with open(bad, "a", encoding="ascii") as file:
        file.write("7 put 1\n")
    check_refused(*gather(bench, flavour, 4, folder, "--arity=2"), 3, bad, "\"put\" is no action")
    subprocess.run(["zstd", "-q", "--rm", bad], check=True)
    os.truncate(bad + ".zst", os.path.getsize(bad + ".zst") - 5)
    check_refused(*gather(bench, flavour, 4, folder), 3, "cut short")


def test_dialect(bench, flavour):
    """The text of one host says of which dialect that of all is; if none says, it is refused, unless --from does."""
    folder, listed = bench.fresh("hosts"), bench.fresh("list.txt")
    files = [os.path.join(folder, f"host{rank}", f"{rank}.txt") for rank in range(HOSTS)]
    for rank, (file, call) in enumerate(zip(files, ("send 1 512 1", "recv 0 512 1"))):
        os.makedirs(os.path.dirname(file))
        with open(file, "w", encoding="ascii") as text:
            text.write(f"{rank} init\n{rank} {call}\n{rank} finalize\n")
    with open(listed, "w", encoding="ascii") as names:
        names.write("\n".join(files))
    run, out = gather(bench, flavour, HOSTS, folder)
    check_refused(run, out, 2, "is of either dialect", "--from=thesis")
    expected = bench.fresh("expected.rfn")
    test_convert.convert(bench, listed, expected, "--from=thesis")
    run, out = gather(bench, flavour, HOSTS, folder, "--json", "--from=thesis")
    check_gathered(bench, run, out, expected, ranks=HOSTS)
    with open(files[1], "a", encoding="ascii") as text:
        text.write("1 waitAll\n")
    test_convert.convert(bench, listed, expected, "--force")
    run, out = gather(bench, flavour, HOSTS, folder, "--json")
    check_gathered(bench, run, out, expected, ranks=HOSTS)
    with open(files[0], "a", encoding="ascii") as text:
        text.write("0 waitall\n")
    run, out = gather(bench, flavour, HOSTS, folder)
    check_refused(run, out, 3, "and those of another host are not")


def test_full_disk(bench):
    """No place for temporary files, or for the archive."""
    text, _ = text_of(bench)
    run, out = gather(bench, "openmpi", 4, spread(bench, text), out="/nowhere/app.rfn")
    check_refused(run, out, 1, "/nowhere/app.rfn")
    script = 'TMPDIR=/nowhere exec "$@"'
    run = bench.run([*harness.FLAVOURS["openmpi"].launch(2), "bash", "-c", script, "sh", bench.refrain, "gather",
                     text + "_files", "-o", bench.fresh("out.rfn")])
    if run.code != 1 or "have TMPDIR name another place" not in run.err:
        raise harness.Failure(run.err)


def test_words(bench):
    for words, said in ((["d"], "-o OUT"), (["-o", "x.rfn"], "which folder"), (["d", "-o", "x.rfn", "--arity=1"], "--arity"),
                        (["d", "-o", "x.rfn", "--ranks=0"], "--ranks"), (["d", "e", "-o", "x.rfn"], "one folder")):
        run = bench.run([bench.refrain, "gather", *words])
        harness.compare(f"exit {words}", run.code, 2)
        if said not in run.err:
            raise harness.Failure(f"{words}: {run.err}")
