"""A small Debian of its own, made by debootstrap: for applications (apps.py), and for other releases (systems.py).

Applications bring hundreds of packages, and some of them change what `make check` runs under (an
OpenCL driver under the address sanitizer does), so none of them may come into the machine's own
system. Commands run in the root by chroot, in mount and process namespaces of their own: when the
first process of a command ends, the kernel ends all others and removes the mounts, whatever has
happened.

What is done is seen in the root, so a call goes on where an earlier one was interrupted: the root
is there when it has the file ROOT_IS_MADE, a package when dpkg says so. Downloaded packages stay in
a cache beside the root.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import time

ROOT_IS_MADE = "etc/made-for-refrain"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Of apt's settings those that say how to get at a mirror.
APT_SETTINGS = re.compile(r"Acquire::(https?::|Check-|Retries)")

# What a command finds in the root. The shell stays the first process of the namespace and waits: a launcher would
# have to care for the orphans of others there. /dev/shm is a tmpfs of its own, so nothing is left in the machine's.
ENTER = r"""
set -e
root=$1; shift
mount --rbind /dev "$root/dev"
mount -t tmpfs -o size=50% shm "$root/dev/shm"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o size=50% tmp "$root/tmp"
while [ "$1" != -- ]; do
    if [ -d "$1" ]; then mkdir -p "$root$2"; else : >>"$root$2"; fi
    mount --bind "$1" "$root$2"
    shift 2
done
shift
set +e
chroot "$root" "$@"
exit $?
"""

# Waiting ranks yield also where each could have a core: the machine may have other things to do.
ENVIRONMENT = {"OMPI_MCA_mpi_yield_when_idle": "1",
               "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


# Before a command: it ends with the process that started it; namespaces that end with it.
WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]
NAMESPACES = [*WITH_PARENT, "unshare", "--mount", "--pid", "--fork", "--kill-child"]

# Writes how a command ended, its CPU seconds, and the KiB of its largest process. A process starts with the peak of the
# one that starts it, so this is a small one: the peak of a driver that has read reports would hide those of ranks.
WATCH = """
import os, resource, sys
status = os.spawnvp(os.P_WAIT, sys.argv[2], sys.argv[2:])
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    print(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=file)
"""


class Trouble(Exception):
    """What keeps applications from being run at all, in words."""


class Done:
    """How a command ended. cpu_seconds and peak_bytes are of all its processes, and of the largest one."""

    def __init__(self, seconds, watched, out, err):
        code, cpu_seconds, peak_kib = watched.split(" ")
        self.code, self.seconds, self.out, self.err = int(code), seconds, out, err
        self.cpu_seconds, self.peak_bytes = float(cpu_seconds), int(peak_kib) * 1024


def release():
    """The name of this machine's release of Debian, such as bookworm."""
    with open("/etc/os-release", encoding="utf-8") as file:
        found = re.search(r"^VERSION_CODENAME=(\S+)", file.read(), re.M)
    return found.group(1) if found else "unknown"


def mirror():
    """Where this machine's apt gets packages of Debian's release from."""
    for command in (["true"], ["apt-get", "-qq", "update"]):  # an image may come without lists
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        targets = subprocess.run(["apt-get", "indextargets", "--format",
                                  "$(REPO_URI) $(CODENAME) $(COMPONENT) $(LABEL)", "Created-By: Packages"],
                                 capture_output=True, text=True, check=False).stdout
        for line in targets.splitlines():
            uri, name, component, *label = line.split(" ")
            if component == "main" and label == ["Debian"] and "-" not in name:
                return uri
    raise Trouble("apt names no mirror of Debian's main packages: run 'apt-get update', or give APPS_MIRROR=URL")


def measured(command, log, timeout):
    """Runs a command of NAMESPACES and waits for it, at most timeout seconds; log: a path without suffix, for what it
    prints."""
    start = time.monotonic()
    watch = [*WITH_PARENT, sys.executable, "-I", "-S", "-c", WATCH, log + ".watched"]
    with open(log + ".watched", "w", encoding="ascii") as file:
        file.write("-9 0 0")  # where it does not come to its end
    with open(log + ".out", "wb") as out, open(log + ".err", "wb") as err:
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([*watch, *command], stdout=out, stderr=err, stdin=subprocess.DEVNULL, timeout=timeout,
                           check=False)
    texts = []
    for suffix in (".watched", ".out", ".err"):
        with open(log + suffix, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    return Done(time.monotonic() - start, *texts)


class Root:
    """folder: where the root, the cache, logs and the folders of runs lie; build: what the tool was built in, found
    in the root as /refrain."""

    def __init__(self, folder, build, suite, url, say):
        self.folder, self.build, self.suite, self.url, self.say = folder, build, suite, url, say
        self.path = os.path.join(folder, "root")
        self.packages = os.path.join(folder, "packages")
        self.runs = os.path.join(folder, "runs")
        self.log = os.path.join(folder, "install")
        for name in (self.path, os.path.join(self.packages, "partial"), self.runs):
            os.makedirs(name, exist_ok=True)

    def check(self):
        """Says what is missing before anything is done."""
        if os.geteuid() != 0:
            raise Trouble("commands run in a root of their own by chroot, which only root may: "
                          "run it as root, or with sudo")
        if subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode:
            raise Trouble("commands run in namespaces of their own, with mounts of their own, which this system or "
                          "container does not allow")
        if not shutil.which("debootstrap"):
            raise Trouble("there is no debootstrap, which makes the root: run 'tools/install-deps.sh apps'")

    def make(self):
        """The root itself, once; what an interrupted call has left goes first."""
        if os.path.exists(os.path.join(self.path, ROOT_IS_MADE)):
            return
        shutil.rmtree(self.path)
        url = self.url or mirror()
        self.say(f"making a root of {self.suite} in {self.path}")
        key = [f"--keyring={KEYRING}"] if os.path.exists(KEYRING) else []
        done = measured([*NAMESPACES, "--mount-proc", "debootstrap", "--variant=minbase", "--components=main",
                         f"--cache-dir={self.packages}", *key, self.suite, self.path, url, *self.script()], self.log, 900)
        if done.code != 0:
            raise Trouble(f"debootstrap failed, see {self.log}.out:\n{done.out[-600:]}{done.err[-600:]}")
        self.settings()
        self.apt("update")
        with open(os.path.join(self.path, ROOT_IS_MADE), "w", encoding="ascii") as file:
            file.write(self.suite + "\n")
        self.say(f"made it in {done.seconds:.0f} s")

    def script(self):
        """A release that this machine's debootstrap does not know yet is made as unstable is."""
        scripts = "/usr/share/debootstrap/scripts"
        return [] if os.path.exists(os.path.join(scripts, self.suite)) else [os.path.join(scripts, "sid")]

    def settings(self):
        """apt in the root reaches the mirror as the machine's apt does."""
        dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
        lines = [line for line in dump.splitlines() if APT_SETTINGS.match(line)]
        lines += ['APT::Install-Recommends "false";', 'DPkg::Options { "--force-unsafe-io"; };',
                  'APT::Keep-Downloaded-Packages "true";', 'Acquire::Languages "none";']
        with open(os.path.join(self.path, "etc/apt/apt.conf.d/50refrain"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def enter(self, command, binds=(), environment=None):
        """The words that run a command in the root. binds: pairs of a path here and there."""
        pairs = [(name, name) for name in ("/etc/resolv.conf", "/etc/hosts") if os.path.exists(name)]
        pairs += [(self.build, "/refrain"), *binds]
        variables = {**ENVIRONMENT, **(environment or {})}
        return [*NAMESPACES, "sh", "-c", ENTER, "sh", self.path,
                *(path for pair in pairs for path in pair), "--", "env", "-i",
                *(f"{name}={value}" for name, value in variables.items()), *command]

    def apt(self, *words):
        passed_on = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        command = self.enter(["apt-get", "-q", "-y", *words], [(self.packages, "/var/cache/apt/archives")],
                             {"DEBIAN_FRONTEND": "noninteractive", **passed_on})
        done = measured(command, self.log, 1800)
        if done.code != 0:
            raise Trouble(f"in the root 'apt-get {' '.join(words)}' failed, see {self.log}.out:\n{done.err[-1500:]}")
        return done

    def missing(self, packages):
        """Those of the packages that the root does not have."""
        with open(os.path.join(self.path, "var/lib/dpkg/status"), encoding="utf-8", errors="replace") as file:
            there = set(re.findall(r"^Package: (\S+)\nStatus: install ok installed$", file.read(), re.M))
        return [name for name in packages if name not in there]

    def install(self, what, packages):
        missing = self.missing(packages)
        if not missing:
            return
        self.say(f"installing {what}: {' '.join(missing)}")
        done = self.apt("install", *missing)
        size = re.search(r"Need to get (.*?) of archives", done.out)
        self.say(f"installed in {done.seconds:.0f} s ({size.group(1) if size else '0 B'} fetched)")

    def libraries(self, files):
        """Packages of this machine with the libraries that files of the build are linked with. Those of the C
        library are in every root."""
        listed = subprocess.run(["ldd", *files], capture_output=True, text=True, check=True).stdout
        paths = sorted(set(re.findall(r"=> (/\S+)", listed)))
        found = subprocess.run(["dpkg-query", "-S", *(f"*{path}" for path in paths)], capture_output=True, text=True,
                               check=False).stdout
        return sorted({line.split(":")[0] for line in found.splitlines() if not line.startswith("diversion")})

    def folder_of_runs(self, folder):
        """A folder that run takes, made."""
        here = os.path.join(self.runs, folder)
        os.makedirs(here, exist_ok=True)
        return here

    def run(self, command, name, timeout, folder, binds=(), environment=None):
        """Runs a command in the root, in a folder of runs that it knows as /case. name: of the files there that what it
        prints goes to."""
        here = os.path.join(self.runs, folder)
        words = ["sh", "-c", 'cd /case && exec "$@"', "sh", *command]
        return measured(self.enter(words, [(here, "/case"), *binds], environment), os.path.join(here, name), timeout)
