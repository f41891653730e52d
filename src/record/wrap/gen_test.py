#!/usr/bin/env python3
"""Test of gen_wrappers.py and mpi.def.

1. What is wrong in a table is found: every kind of mistake fails with one line naming the function.
   Functions that the table lacks are recorded as far as their types tell; of the MPIs that are
   installed it lacks none.
2. For each MPI that is installed: the functions of its header are compared with the symbols of its
   library, counted independently; pointer arguments are checked by rules that know nothing of
   mpi.def (an output handle is registered, a freed one forgotten, a handle input recorded).
3. The generated code is run: every wrapper is called with a fake MPI and fake rec_* functions, when
   all arguments are significant, when none is (their pointers then lead nowhere), and when the call
   fails. Each call must leave exactly the words of its schema, of their kinds, in their order.

    src/record/wrap/gen_test.py [--keep DIR]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import gen_wrappers as gen  # noqa: E402

SOURCE = os.path.dirname(os.path.dirname(HERE))
FLAVOURS = {"mpich": "mpicc.mpich", "openmpi": "mpicc.openmpi", "smpi": "smpicc"}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]

failures = []
checks = 0


def expect(condition, text):
    global checks
    checks += 1
    if not condition:
        failures.append(text)
        print("not ok: " + text)


# ---- 1. mistakes ----

GOOD_H = "int MPI_Send(const void *b, int n, MPI_Comm c); int PMPI_Send(const void *b, int n, " \
         "MPI_Comm c);"
GOOD_DEF = "Send SEND - buf:buffer count:count comm:comm\n"

# mpi.def, mpi.h, what the message must contain
MISTAKES = [
    ("Send SEND - buf:buffer count:count\n", GOOD_H, "3 arguments in mpi.h, 2 in mpi.def"),
    (GOOD_DEF.replace("comm:comm", "comm:type"), GOOD_H, "'comm' cannot be type"),
    (GOOD_DEF.replace("buf:buffer", "buf:count[count]"), GOOD_H, "'buf' cannot be count"),
    (GOOD_DEF.replace("comm:comm", "comm:out.comm"), GOOD_H, "'comm' cannot be comm"),
    (GOOD_DEF.replace("count:count", "count:number"), GOOD_H, "unknown kind 'number'"),
    (GOOD_DEF.replace("count:count", "count"), GOOD_H, "cannot read"),
    (GOOD_DEF.replace("SEND", "SENT"), GOOD_H, "unknown class 'SENT'"),
    (GOOD_DEF.replace(" - ", " fast "), GOOD_H, "unknown flag 'fast'"),
    (GOOD_DEF.replace("count:count", "count:count@sometimes"), GOOD_H, "unknown condition"),
    (GOOD_DEF.replace("count:count", "count:count@root"), GOOD_H, "refers to 'root'"),
    (GOOD_DEF.replace(" - ", " nonblocking "), GOOD_H, "a request is made by"),
    (GOOD_DEF.replace(" - ", " poll "), GOOD_H, "kind 'done'"),
    (GOOD_DEF * 2, GOOD_H, "here twice"),
    ("  comm:comm\n", GOOD_H, "nothing to continue"),
    (GOOD_DEF, "", "no MPI function"),
    ("Info_set OTHER - info:free.info\n",
     "int MPI_Info_set(const MPI_Info *i); int PMPI_Info_set(const MPI_Info *i);", "is const"),
    ("Many OTHER - " + " ".join("a%d:int" % i for i in range(25)),
     "int MPI_Many(%s); int PMPI_Many(int a);" % ", ".join("int a%d" % i for i in range(25)),
     "MPI_Many: more than 24 words"),
]


def test_mistakes():
    gen.generate("mpich", GOOD_DEF, GOOD_H)
    for definitions, header, message in MISTAKES:
        try:
            gen.generate("mpich", definitions, header)
            expect(False, "found no mistake in: %s" % definitions.strip()[:60])
        except gen.Failure as failure:
            text = str(failure)
            expect(message in text and "\n" not in text, "'%s' says '%s'" % (text, message))


# Functions that no MPI has, and the words that they are to leave: inputs, outcomes.
INVENTED = {
    "Nothing(void)": ([], []),
    "Numbers(int a, MPI_Count b, MPI_Aint c, MPI_Offset d)": (["a", "b", "c", "d"], []),
    "Handles(MPI_Comm a, MPI_Comm b, MPI_Group c, MPI_Info d, MPI_Win e)": (["a", "b", "c", "d", "e"], []),
    "Made(MPI_Comm a, const void *b, MPI_Request *request)": (["a"], []),
    "Outcome(MPI_Datatype a, MPI_Datatype *b)": (["a"], ["b"]),
    "Outcomes(MPI_Comm *a, int *b, MPI_Info *c)": ([], ["a", "c"]),
    "Lists(int n, const MPI_Request b[], MPI_Datatype c[], int d[], const MPI_Info *e)": (["n"], []),
    "Statuses(MPI_Request a, MPI_Status *b, MPI_Request *c, int d)": (["a", "d"], []),
    "Texts(const char *a, char *b, MPI_Errhandler call)": (["argument2"], []),
    "Unnamed_c(MPI_Count, MPI_Message)": (["argument0", "argument1"], []),
}
# A callback, and a conversion whose result is no error code.
NOT_RECORDED = ["Callback(int (*function)(int, void *), void *state)", "Handle_toint(MPI_Comm a)"]
INVENTED_H = "".join("int %sMPI_%s;" % (p, f) for f in [*INVENTED, *NOT_RECORDED] for p in ("", "P"))


def test_invented():
    _, _, bound = gen.generate("mpich", GOOD_DEF, GOOD_H + INVENTED_H)
    found = {b.name: ([w.name for w in b.inputs], [w.name for w in b.outcomes]) for b in bound}
    wanted = {name.split("(")[0]: words for name, words in INVENTED.items()}
    expect(found == {"Send": (["buf", "count", "comm"], []), **wanted}, "invented functions: %s" % found)
    nonblocking = [b.name for b in bound if "nonblocking" in b.function.flags]
    expect(nonblocking == ["Made"], "what makes a request: %s" % nonblocking)


def test_command_line(folder):
    """A failure is one line on standard error and exit status 1."""
    table = os.path.join(folder, "wrong.def")
    gen.write_file(table, GOOD_DEF.replace("SEND", "SENT"))
    compiler = next((c for c in FLAVOURS.values() if shutil.which(c)), None)
    if not compiler:
        return
    result = subprocess.run([sys.executable, os.path.join(HERE, "gen_wrappers.py"), "--flavour",
                             "mpich", "--cc", compiler, "--def", table, "--out", folder],
                            stderr=subprocess.PIPE, universal_newlines=True)
    expect(result.returncode == 1 and len(result.stderr.splitlines()) == 1
           and "unknown class 'SENT'" in result.stderr,
           "a wrong table fails with one line, not: " + result.stderr[:200])


# ---- 2. headers and libraries ----

# What a library exports beside the functions of the standard's C binding that are wrapped.
NOT_WRAPPED = re.compile(r"^MPI_(T_.*|W(time|tick)|Aint_(add|diff)|[A-Z0-9_]+"
                         r"|\w+_(c2f|f2c|c2f08|f082c|f082f|f2f08))$")

# Output handles that are known already, or become known when they are used.
UNTREATED = {"Type_get_contents", "Type_get_contents_c"}

# The standard's names that MPICH's header writes otherwise.
RENAMED = {"indx": "index"}
WRONG_IN_HEADER = {("Precv_init", "dest")}


def library_functions(flavour):
    for name in gen.LIBRARIES[flavour]:
        path = next((os.path.join(d, name) for d in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                                                     "/usr/lib", "/usr/local/lib")
                     if os.path.exists(os.path.join(d, name))), None)
        if path:
            text = subprocess.run(["nm", "-D", "--defined-only", path], stdout=subprocess.PIPE,
                                  universal_newlines=True, check=True).stdout
            names = {line.split()[-1].split("@")[0] for line in text.splitlines()}
            return {n for n in names if re.match(r"MPI_|MPIX_\w+_init$", n) and "P" + n in names
                    and not NOT_WRAPPED.match(n)}
    return None


def test_counts(flavour, bound):
    names = {b.prefix + b.name for b in bound}
    expect(len(names) == len(bound), "%s: no function is there twice" % flavour)
    library = library_functions(flavour)
    if library is None:
        print("%-8s %d functions (no library to compare with)" % (flavour, len(bound)))
        return
    print("%-8s %d functions, %d of them large-count forms; the library has %d" %
          (flavour, len(bound), sum(n.endswith("_c") for n in names), len(library)))
    expect(names == library, "%s: header and library differ in %s" %
           (flavour, sorted(names ^ library)))


def test_arguments(flavour, bound):
    for b in bound:
        recorded = {w.name for w in b.inputs}
        for a, p in zip(b.function.arguments, b.prototype.parameters):
            where = "%s: MPI_%s: %s" % (flavour, b.name, a.name)
            is_handle = p.base in {gen.KINDS[k].types[0] for k in gen.HANDLES if k != "keyval"}
            if is_handle and (p.depth == 0 or p.const):
                expect(a.name in recorded, where + " is a handle input that is not recorded")
            if is_handle and p.depth == 1 and not p.const and b.name not in UNTREATED:
                expect(a.kind != "skip", where + " is an output handle without treatment")
            if re.search(r"_(free|disconnect|close|finalize)(_keyval)?$", b.name.lower()) \
                    and b.function.arguments:
                expect(b.function.arguments[0].direction == "free", where + " is not freed")
            if p.base == "MPI_Status" and not p.const and not b.name.startswith(
                    ("Status_set", "Get_elements")):
                expect(a.kind in ("status", "moved", "completed")
                       or b.name == "Request_get_status", where + " is a status without outcome")
            if re.search(r"count$", p.name) and p.depth == 0 and p.base in gen.NUMBERS:
                expect(a.name in recorded, where + " is a count that is not recorded")
            if p.base in ("int", "MPI_Count", "MPI_Aint") and p.depth == 1 and p.const \
                    and b.name not in ("Cart_rank",):
                expect(a.length is not None, where + " is an input array that is not recorded")


def test_names(flavour, header, bound):
    """MPICH's header has the names of the standard."""
    if flavour != "mpich":
        return
    for b in bound:
        for a, p in zip(b.function.arguments, header.functions[b.name].parameters):
            expect(a.name == RENAMED.get(p.name, p.name) or (b.name, p.name) in WRONG_IN_HEADER,
                   "MPI_%s: '%s' is called '%s' in mpi.h" % (b.name, a.name, p.name))


# ---- 3. the generated code ----

# Arguments that MPI ignores for: a rank that is neither root nor takes part, buffers MPI_IN_PLACE,
# the operation MPI_NO_OP. From the standard, by hand; stems of I..., ..._init and ..._c forms.
IGNORED = {
    "Gatherv": "recvcounts displs",
    "Scatterv": "sendcounts displs",
    "Alltoallv": "sendcounts sdispls",
    "Alltoallw": "sendcounts sdispls sendtypes",
    "Comm_spawn": "command argv",
    "Comm_spawn_multiple": "array_of_commands array_of_argv array_of_maxprocs array_of_info",
    "Comm_accept": "port_name",
    "Comm_connect": "port_name",
}

DRIVER = r"""
#include "record/handles/comms.h"
#include "record/handles/params.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A word of kind k is MARK + k where a fake function made it, so that the order can be checked. */
enum { MARK = 1000000, LIST = RFN_KIND_LIST };

static struct { int rc, significant, flag; } scene;
static unsigned calls, errors;
static long long scratch[4096]; /* every pointer's target */
static struct rec_site_way sets[REC_SITE_SETS][REC_SITE_WAYS];
static struct rec_stream stream;
enum rec_state rec_state = REC_RECORDING;
__thread struct rec_stream *rec_this_stream;
bool rec_threads_multiple;
bool rec_off;
bool rec_only_samples;
bool rec_pausing;
void rec_park(struct rec_stream *stream) { (void)stream; }
void rec_park_open(struct rec_stream *stream, uint32_t function) { (void)stream; (void)function; }
bool rec_is_dropped(uint32_t function) { (void)function; return false; }
void rec_before_enter(struct rec_stream *stream) { (void)stream; }
void rec_count_exit(struct rec_stream *stream) { (void)stream; }
uint64_t rec_long_gap = UINT64_MAX;
void rec_gap_begins(struct rec_stream *stream) { (void)stream; }
void rec_gap_ends(struct rec_stream *stream) { (void)stream; }
struct rec_clock rec_clock = {.kind = REC_CLOCK_MONOTONIC};
static volatile long long sink;

static void in(struct rec_call *call, int kind) { call->in[call->n_in++] = MARK + kind; }
static void out(struct rec_call *call, int kind) { call->out[call->n_out++] = MARK + kind; }
static void list(struct rec_call *call, int kind, const void *p, int64_t n)
{
    const volatile char *bytes = p;
    for (int64_t i = 0; i < n * 4; i++)
        sink += bytes[i];
    in(call, LIST | kind);
}

uint64_t rec_clock_other(void) { return 1; }
/* MPI overwrites what pointers lead to; a freed handle must be the one from before. */
enum { BEFORE = 1, AFTER = 7 };
static void freed(struct rec_call *call, const void *handle)
{
    int value;
    memcpy(&value, handle, sizeof value);
    if (value != (scene.flag ? BEFORE : 0)) {
        printf("%s: frees another handle\n", rec_functions[call->function].name);
        errors++;
    }
}

struct rec_stream *rec_stream_wake(void) { return NULL; }
void *rec_frame_inside(struct rec_stream *s, uint32_t f, void *p)
{
    (void)s; (void)f; return p;
}
uint32_t rec_walk(struct rec_stream *s, uint32_t f, void *frame)
{
    (void)s, (void)f, (void)frame;
    return 0;
}
void rec_in_string(struct rec_call *c, const char *text)
{
    sink += *(const volatile char *)text;
    in(c, RFN_KIND_STRING);
}
#define FAKE_LIST(name, type, kind)                                                                \
    void rec_in_##name(struct rec_call *c, const type *v, int64_t n) { list(c, kind, v, n); }
FAKE_LIST(ints, int, 0)
FAKE_LIST(counts, MPI_Count, 0)
FAKE_LIST(aints, MPI_Aint, 0)
FAKE_LIST(ranks, int, RFN_KIND_RANK)
FAKE_LIST(types, MPI_Datatype, RFN_KIND_TYPE)
FAKE_LIST(infos, MPI_Info, RFN_KIND_INFO)
FAKE_LIST(requests, MPI_Request, RFN_KIND_REQUEST)
void rec_out_ints(struct rec_call *c, const int *v, int64_t n) { (void)v, (void)n; out(c, LIST); }
#define FAKE(name, type, kind)                                                                     \
    void rec_in_##name(struct rec_call *c, type h) { (void)h; in(c, kind); }                       \
    void rec_out_##name(struct rec_call *c, type h) { (void)h; out(c, kind); }                     \
    void rec_free_##name(struct rec_call *c, type h) { freed(c, &h), c->scratch.removed = 1; }             \
    void rec_freed_##name(struct rec_call *c, type h) { freed(c, &h), c->scratch.removed--; }
REC_SLOT_KINDS(FAKE)
REC_SESSION_KIND(FAKE)
FAKE(keyval, int, RFN_KIND_KEYVAL)
FAKE(comm, MPI_Comm, RFN_KIND_COMM)
FAKE(type, MPI_Datatype, RFN_KIND_TYPE)
void rec_out_comm_later(struct rec_call *c, MPI_Comm *h) { (void)h; out(c, RFN_KIND_COMM); }
int64_t rec_comm_size(MPI_Comm comm) { (void)comm; return 4; }
const struct rec_comm *rec_comm_of(MPI_Comm comm)
{
    static struct rec_comm known = {.size = 4};
    (void)comm;
    return &known;
}
bool rec_comm_is_root(MPI_Comm comm, int root) { (void)comm, (void)root; return scene.significant; }
void rec_comm_neighbors(MPI_Comm comm, int *i, int *o) { (void)comm; *i = 2; *o = 3; }
int64_t rec_type_size(MPI_Datatype type) { (void)type; return 8; }
void rec_in_request(struct rec_call *c, MPI_Request r) { (void)r; in(c, RFN_KIND_REQUEST); }
void rec_out_request(struct rec_call *c, MPI_Request r, unsigned flags, int source, int tag,
                     int64_t bytes)
{
    (void)r, (void)source, (void)tag, (void)bytes;
    bool persistent = rec_functions[c->function].flags & RFN_FUNCTION_PERSISTENT;
    if (persistent != !!(flags & REC_REQUEST_PERSISTENT))
        printf("%s: persistent\n", rec_functions[c->function].name), errors++;
    if (persistent)
        out(c, RFN_KIND_REQUEST);
}
void rec_out_request_freed(struct rec_call *c) { (void)c; }
void rec_out_cancelled(struct rec_call *c) { (void)c; }
MPI_Status *rec_status(struct rec_call *c, MPI_Status *s) { (void)c; return s; }
MPI_Status *rec_statuses(struct rec_call *c, MPI_Status *s, int64_t n)
{
    (void)c, (void)n;
    return s;
}
void rec_out_status(struct rec_call *c, const MPI_Status *s, int source, int tag, int64_t bytes)
{
    (void)s, (void)source, (void)tag, (void)bytes;
    out(c, RFN_KIND_RANK), out(c, RFN_KIND_TAG), out(c, RFN_KIND_BYTES);
}
void rec_out_moved(struct rec_call *c, const MPI_Status *s, int64_t bytes)
{
    (void)s, (void)bytes;
    out(c, RFN_KIND_BYTES);
}
void rec_out_completed_all(struct rec_call *c, int d, const MPI_Status *s)
{
    (void)d, (void)s;
    out(c, RFN_KIND_COMPLETIONS);
}
void rec_out_completed_any(struct rec_call *c, int d, int i, const MPI_Status *s)
{
    (void)d, (void)i, (void)s;
    out(c, RFN_KIND_INT), out(c, RFN_KIND_COMPLETIONS);
}
void rec_out_completed_some(struct rec_call *c, int n, const int *i, const MPI_Status *s)
{
    (void)n, (void)i, (void)s;
    out(c, LIST | RFN_KIND_INT), out(c, RFN_KIND_COMPLETIONS);
}
void rec_out_poll(struct rec_call *c, int flag)
{
    c->poll = flag ? RFN_POLL_SUCCESSFUL : RFN_POLL_FAILED;
}

/* One word against its kind: fake functions mark theirs; lists of numbers have no kind of their
 * own. A word without a mark is a plain value, or says that there is none. */
static bool fits(int64_t word, int kind, bool plain_allowed)
{
    if (word >= MARK) {
        int made = (int)(word - MARK);
        return made == kind || (made == LIST && kind & LIST);
    }
    bool plain = !(kind & LIST) &&
                 (kind <= RFN_KIND_COUNT || kind == RFN_KIND_RANK || kind == RFN_KIND_TAG ||
                  (kind >= RFN_KIND_BUFFER && kind <= RFN_KIND_PLACE));
    return plain || (plain_allowed && word < 0);
}

bool rec_meetings_count = true;
static int synchronized; /* calls that all ranks make at once, of which no more has been said */
void rec_synchronized(struct rec_call *call, MPI_Comm comm, MPI_Datatype type, int rc)
{
    (void)comm, (void)type;
    synchronized -= rc == scene.rc && call == &stream.call;
}
void rec_leave(struct rec_call *c)
{
    const struct rfn_function_info *f = &rec_functions[c->function];
    bool good = c->n_in == f->n_in && c->n_out == f->n_out;
    for (unsigned i = 0; good && i < f->n_in; i++)
        good = fits(c->in[i], f->params[i].kind, !scene.significant);
    for (unsigned i = 0; good && i < f->n_out; i++)
        good = fits(c->out[i], f->params[f->n_in + i].kind, c->rc || !scene.flag);
    if (!good) {
        printf("%s: %u of %u inputs, %u of %u outcomes, or kinds differ (rc %d, significant %d)\n",
               f->name, c->n_in, f->n_in, c->n_out, f->n_out, scene.rc, scene.significant);
        errors++;
    }
    calls++;
    const bool each_gets_of_all = !strstr(f->name, "v") && !strstr(f->name, "w") &&
                                  strncmp(f->name, "MPI_Reduce_scatter_c", 20) != 0 &&
                                  strcmp(f->name, "MPI_Reduce_scatter") != 0;
    synchronized += (f->class_ == RFN_CLASS_BARRIER || f->class_ == RFN_CLASS_ALL_TO_ALL) &&
                    !(f->flags & (RFN_FUNCTION_NONBLOCKING | RFN_FUNCTION_PERSISTENT)) &&
                    each_gets_of_all;
    stream.inside = false;
    *(int *)scratch = scene.flag ? BEFORE : 0;
}

static int fake_mpi(void)
{
    if (scene.flag)
        *(int *)scratch = AFTER;
    return scene.rc;
}
/* What the wrappers ask MPI themselves. */
static int fake_group_rank(MPI_Group group, int *rank)
{
    (void)group;
    *rank = scene.significant ? 2 : 3;
    return MPI_SUCCESS;
}
static int fake_dimensions(MPI_Comm comm, int *n)
{
    (void)comm;
    *n = 2;
    return MPI_SUCCESS;
}

static void *const nowhere = (void *)16;

@CALLS@

static void check_library(const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library)
        return;
    if (rec_mpi_fill(library))
        printf("%s: is no MPI library\n", name), errors++;
    const char *member = (const char *)&rec_mpi;
    for (unsigned f = 0; f < REC_FN_COUNT; f++, member += sizeof(void *)) {
        void *address;
        memcpy(&address, member, sizeof address);
        if (!address)
            printf("%s has no P%s\n", name, rec_functions[f].name);
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof rec_mpi; i += sizeof(void *)) {
        void *address;
        int (*function)(void) = fake_mpi;
        memcpy(&address, &function, sizeof address);
        if (i / sizeof(void *) >= REC_FN_COUNT) /* data: all different */
            address = scratch + i / sizeof(void *);
        memcpy((char *)&rec_mpi + i, &address, sizeof address);
        memcpy((char *)&rec_next + i, &address, sizeof address);
    }
    rec_mpi.MPI_Group_rank = fake_group_rank;
    rec_mpi.MPI_Cartdim_get = fake_dimensions;
    stream.sites.sets = sets;
    rec_this_stream = &stream;
    for (scene.rc = 0; scene.rc < 2; scene.rc++) {
        for (scene.significant = 0; scene.significant < 2; scene.significant++) {
            for (scene.flag = 0; scene.flag < 2; scene.flag++) {
                memset(scratch, 0, sizeof scratch);
                if (scene.flag)
                    *(int *)scratch = BEFORE;
                call_all();
            }
        }
    }
    if (synchronized)
        printf("%d calls of all ranks are said wrongly\n", synchronized), errors++;
    for (int i = 1; i < argc; i++)
        check_library(argv[i]);
    printf("%u calls, %u errors\n", calls, errors);
    return errors != 0;
}
"""


def stem(name):
    name = re.sub(r"(_init)?(_c)?$", "", name)
    if re.match(r"I[a-z]", name) and name[1].upper() + name[2:] in IGNORED:
        name = name[1].upper() + name[2:]
    return name


def driver_call(b, types):
    ignored = IGNORED.get(stem(b.name), "").split()
    values = []
    for a, p in zip(b.function.arguments, b.prototype.parameters):
        if a.name in ("sendbuf", "recvbuf"):
            values.append("scene.significant ? (void *)scratch : MPI_IN_PLACE")
        elif a.name in ignored:
            values.append("scene.significant ? (void *)scratch : nowhere")
        elif p.depth:
            values.append("(void *)scratch")
        elif a.name == "root":
            values.append("scene.significant ? 0 : MPI_PROC_NULL")
        elif a.name == "op":
            values.append("scene.significant ? MPI_OP_NULL : MPI_NO_OP")
        elif p.base in gen.NUMBERS:
            values.append("2")
        else:
            types.add(p.base)
            values.append("v_" + p.base)
    return "    %s%s(%s);" % (b.prefix, b.name, ", ".join(values))


def driver(bound):
    types = set()
    calls = [driver_call(b, types) for b in bound if not b.function.special]
    variables = ["static %s v_%s;" % (t, t) for t in sorted(types)]
    variables += ["int %s%s(%s);" % (b.prefix, b.name, ", ".join(gen.declarations(b.prototype)))
                  for b in bound if b.prefix != "MPI_"]
    return DRIVER.replace("@CALLS@", "\n".join(variables + ["", "static void call_all(void)", "{"]
                                               + calls + ["}"])), len(calls)


def run(command, what):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            universal_newlines=True)
    expect(result.returncode == 0, "%s: %s" % (what, result.stdout[-2000:]))
    return result


def includes(compiler):
    """Where the compiler wrapper finds mpi.h."""
    result = subprocess.run([compiler, "-E", "-M", "-x", "c", "-"], input="#include <mpi.h>\n",
                            stdout=subprocess.PIPE, universal_newlines=True)
    match = re.search(r"(\S+)/mpi\.h", result.stdout)
    return ["-isystem", match.group(1)] if match else []


def compile_flags(flavour, compiler, folder):
    return ["gcc", "-std=c11", "-O0", "-fPIC", "-fno-omit-frame-pointer", "-D_GNU_SOURCE",
            "-DRFN_FLAVOUR_" + flavour.upper(), "-I" + SOURCE,
            "-I" + os.path.join(os.path.dirname(SOURCE), "include"), "-I" + folder] \
        + includes(compiler)


def test_code(flavour, compiler, files, bound, folder):
    record = os.path.join(folder, "record")
    os.makedirs(record, exist_ok=True)
    for name, text in files.items():
        gen.write_file(os.path.join(record, name), text)
    flags = compile_flags(flavour, compiler, folder)
    objects = []
    for name in ("functions.gen", "mpi_table.gen", "wrappers.gen"):
        objects.append(os.path.join(folder, name + ".o"))
        run(flags + WARNINGS + ["-c", "-o", objects[-1], os.path.join(record, name + ".c")],
            "%s: %s.c compiles without warnings" % (flavour, name))
    if failures or flavour == "smpi":  # SMPI's constants need its library, which brings a main()
        return
    text, calls = driver(bound)
    source, program = os.path.join(folder, "driver.c"), os.path.join(folder, "driver")
    gen.write_file(source, text)
    # Linked without MPI: the recorder must need none of its symbols.
    run(flags + ["-w", "-o", program, source] + objects + ["-ldl"],
        "%s: the wrappers link without MPI" % flavour)
    if failures:
        return
    result = run([program] + list(gen.LIBRARIES[flavour][:1]), "%s: words fit schemas" % flavour)
    lacking = sum(b.function.derived for b in bound)  # the library has none of them
    expect("%d calls, 0 errors" % (8 * calls) in result.stdout
           and result.stdout.count(" has no PMPI_") == lacking,
           "%s: %d calls, not %s" % (flavour, 8 * calls, result.stdout[-200:]))
    print("%-8s wrappers ran: %s" % (flavour, result.stdout.strip().splitlines()[-1]))


def test_flavour(flavour, compiler, folder):
    with open(os.path.join(HERE, "mpi.def")) as file:
        definitions = file.read()
    text = gen.preprocess(flavour, compiler)
    header = gen.parse_header(text)
    files, _, bound = gen.generate(flavour, definitions, text)
    expect(files == gen.generate(flavour, definitions, text)[0], flavour + ": equal output")
    lacks = [b.name for b in bound if b.function.derived]
    expect(not lacks, "%s: mpi.def lacks %s" % (flavour, lacks))
    test_counts(flavour, bound)
    test_arguments(flavour, bound)
    test_names(flavour, header, bound)
    if flavour != "smpi":  # whose functions are linked, not looked up
        files, _, bound = gen.generate(flavour, definitions, text + INVENTED_H)
        expect(len([b for b in bound if b.function.derived]) == len(INVENTED), flavour + ": invented functions")
    test_code(flavour, compiler, files, bound, os.path.join(folder, flavour))


def main():
    parser = argparse.ArgumentParser(description="Tests gen_wrappers.py and mpi.def.")
    parser.add_argument("--keep", help="folder for the generated files, which stay")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        test_mistakes()
        test_invented()
        test_command_line(folder)
        for flavour, compiler in FLAVOURS.items():
            if shutil.which(compiler):
                test_flavour(flavour, compiler, folder)
            else:
                print("%-8s skipped: %s is not installed" % (flavour, compiler))
    print("%d checks, %d failed" % (checks, len(failures)))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
