#!/usr/bin/env python3
"""Generates the MPI wrappers, their schemas and the table of MPI's functions for one MPI.

Two sources are joined: mpi.def says what every function of the standard and each of its arguments
is (the format is told at its top), the preprocessed mpi.h says which functions this MPI has and
what their C types are. Of a function that mpi.def lacks, as of an MPI that is newer, the types say
what can be recorded. For every function of the header the arguments are bound, in order, to
those of mpi.def; C types are checked against kinds, so that a table that does not fit the header
fails here and not in a program. From the result are written:

  functions.gen.h/.c   enum rec_fn and the schemas, in the order of mpi.def
  mpi_table.gen.h/.c   struct rec_mpi_table: pointers to the PMPI functions, and to the data of
                       libmpi that mpi.h's constants stand for, so that the recorder can be loaded
                       into any process, with or without MPI
  wrappers.gen.c       the exported functions, in the form that recorder.h tells

A wrapper's statements come from the arguments: each gives statements before the call (inputs, one
word each), after it (outcomes), or both, in the order of the schema.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import namedtuple

PARAMS_MAX = 24  # RFN_PARAMS_MAX; a static assertion in functions.gen.c compares the two
SYMBOL_MAX = 63  # longest symbol that rec_mpi_fill looks up

CLASSES = ("OTHER SEND SSEND RECV SENDRECV PROBE COMPLETION START BARRIER ONE_TO_ALL ALL_TO_ONE "
           "ALL_TO_ALL SCAN NEIGHBOR RMA RMA_SYNC FILE COMM SETUP").split()
FLAGS = ("nonblocking", "persistent", "poll", "collective")

# Events that the recorder makes, numbered after the functions of mpi.def: name, class, inputs,
# outcomes, flags. But for refrain_polls (record/limits) they are no MPI calls.
OWN = (("refrain_region_begin", "REGION", (("name", "REGION"),), (), "0"),
       ("refrain_region_end", "REGION", (("name", "REGION"),), (), "0"),
       ("refrain_segment_begin", "SEGMENT_BEGIN", (("name", "REGION"),), (), "0"),
       ("refrain_segment_end", "SEGMENT_END", (), (), "0"),
       ("refrain_calls_unrecorded", "UNRECORDED", (("name", "REGION"),), (("calls", "INT"),), "0"),
       ("refrain_calls_left_out", "UNRECORDED", (("function", "STRING"),), (("calls", "INT"),), "0"),
       ("refrain_recording", "UNRECORDED", (("level", "INT"),), (), "0"),
       ("refrain_polls", "OTHER", (("part", "INT"),), (), "RFN_FUNCTION_POLL"))

LIBRARIES = {
    "mpich": ("libmpich.so.12", "libmpi.so.12"),
    "openmpi": ("libmpi.so.40",),
    "mpiabi": ("libmpi_abi.so.1",),
    "smpi": (),
}

# Open MPI hides the functions that MPI-3.0 removed, but its library still has them.
BEFORE_MPI_H = {"openmpi": "#define OMPI_OMIT_MPI1_COMPAT_DECLS 0\n"}
# Its extensions: persistent collectives as MPIX_ before they came into the standard.
AFTER_MPI_H = {"openmpi": "#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n"}

NUMBERS = ("int", "MPI_Aint", "MPI_Count", "MPI_Offset")
LIST_OF = {"int": "rec_in_ints", "MPI_Count": "rec_in_counts", "MPI_Aint": "rec_in_aints"}

# schema: RFN_KIND_*; types: C types a value may have; scalar, lists: functions of params.h;
# null: what stands for *pointer when the program passes a null pointer; insignificant: the word of
# an argument that is not looked at.
Kind = namedtuple("Kind", "schema types scalar lists null insignificant")


def number(schema, scalar="int", lists=None):
    return Kind(schema, NUMBERS, scalar, lists or LIST_OF, "0", "RFN_UNKNOWN")


def handle(schema, c_type, name, null, lists=None):
    return Kind(schema, (c_type,), name, {c_type: lists} if lists else {}, null,
                "RFN_UNKNOWN" if schema in ("TYPE", "REQUEST") else "-1")


KINDS = {
    "int": number("INT"),
    "count": number("COUNT"),
    "bytes": number("BYTES"),
    "flag": number("FLAG"),
    "place": number("PLACE", "place"),
    "rank": Kind("RANK", ("int",), "rank", {"int": "rec_in_ranks"}, "0", "RFN_UNKNOWN"),
    "tag": Kind("TAG", ("int",), "tag", {}, "0", "RFN_UNKNOWN"),
    "buffer": Kind("BUFFER", ("void",), "buffer", {}, "", "RFN_UNKNOWN"),
    "string": Kind("STRING", ("char",), "string", {}, "", "RFN_LIST_ABSENT"),
    "keyval": Kind("KEYVAL", ("int",), "keyval", {}, "MPI_KEYVAL_INVALID", "-1"),
    "comm": handle("COMM", "MPI_Comm", "comm", "MPI_COMM_NULL"),
    "peer": handle("COMM", "MPI_Comm", "comm", "MPI_COMM_NULL"),
    "type": handle("TYPE", "MPI_Datatype", "type", "MPI_DATATYPE_NULL", "rec_in_types"),
    "op": handle("OP", "MPI_Op", "op", "MPI_OP_NULL"),
    "group": handle("GROUP", "MPI_Group", "group", "MPI_GROUP_NULL"),
    "info": handle("INFO", "MPI_Info", "info", "MPI_INFO_NULL", "rec_in_infos"),
    "errhandler": handle("ERRHANDLER", "MPI_Errhandler", "errhandler", "MPI_ERRHANDLER_NULL"),
    "win": handle("WIN", "MPI_Win", "win", "MPI_WIN_NULL"),
    "file": handle("FILE", "MPI_File", "file", "MPI_FILE_NULL"),
    "session": handle("SESSION", "MPI_Session", "session", "MPI_SESSION_NULL"),
    "message": handle("MESSAGE", "MPI_Message", "message", "MPI_MESSAGE_NULL"),
    "request": handle("REQUEST", "MPI_Request", "request", "MPI_REQUEST_NULL", "rec_in_requests"),
}
HANDLES = [name for name in KINDS if KINDS[name].types[0].startswith("MPI_") and name != "peer"
           and KINDS[name].types != NUMBERS] + ["keyval"]

# Words of mpi.def that are not kinds of values: the C type of the argument (None: any).
ROLES = {"skip": None, "made": "MPI_Request", "status": "MPI_Status", "moved": "MPI_Status",
         "done": "int", "completed": "MPI_Status", "index": "int", "outcount": "int",
         "indices": "int", "cancel": "MPI_Request"}

CONDITIONS = {
    "root": "at_root",
    "leaf": "root >= 0",
    "member": "root != MPI_PROC_NULL",
    "send": "sendbuf != MPI_IN_PLACE",
    "recv": "recvbuf != MPI_IN_PLACE",
    "leader": "at_leader",
    "firstofgroup": "at_leader",
    "origin": "op != MPI_NO_OP",
}
CONDITION_LOCALS = {
    "root": "const bool at_root = rec_comm_is_root(comm, root);",
    "leader": "const bool at_leader = rec_comm_is_root(local_comm, local_leader);",
    "firstofgroup": "const bool at_leader = leads(local_group, local_leader);",
}

# Named lengths: the expression, and whether a local variable of that name keeps it.
LENGTHS = {
    "size": ("rec_comm_size(comm)", True),
    "local": ("local_size(comm)", False),
    "sources": ("n_sources", False),
    "destinations": ("n_destinations", False),
    "cartdims": ("cart_dims(comm)", False),
    "edges": ("last_of(index, nnodes)", False),
    "degrees": ("sum_of(degrees, n)", False),
}


class Failure(Exception):
    """A table that cannot be read or does not fit the header; the text is one line."""


# ---- mpi.def ----

Argument = namedtuple("Argument", "name direction kind length conditions details")
# added: outcomes without an argument; derived: from the prototype, as mpi.def lacks the function
Function = namedtuple("Function", "name class_ flags special arguments added derived")


def parse_argument(where, text):
    match = re.match(r"^([A-Za-z]\w*|\.\.\.):(?:(out|io|free|later)\.)?([a-z]+)"
                     r"(?:\.(all|any|some)|\(([^()]*)\))?(?:\[([\w*]+)\])?(?:@([a-z&]+))?$", text)
    if not match:
        raise Failure("%s: cannot read the argument '%s'" % (where, text))
    name, direction, kind, which, details, length, conditions = match.groups()
    if kind not in KINDS and kind not in ROLES:
        raise Failure("%s: unknown kind '%s'" % (where, kind))
    conditions = tuple(conditions.split("&")) if conditions else ()
    for condition in conditions:
        if condition not in CONDITIONS:
            raise Failure("%s: unknown condition '%s'" % (where, condition))
    if which:
        details = [which]
    elif details is not None:
        details = [d for d in details.split(",") if d]
    return Argument(name, direction or "in", kind, length, conditions, details)


def parse_line(where, words):
    if len(words) < 3:
        raise Failure("%s: a line is name, class, flags, arguments" % where)
    name, class_, flags = words[:3]
    flags = [] if flags == "-" else flags.split(",")
    if class_ not in CLASSES:
        raise Failure("%s: unknown class '%s'" % (where, class_))
    for flag in flags:
        if flag != "special" and flag not in FLAGS:
            raise Failure("%s: unknown flag '%s'" % (where, flag))
    arguments = [parse_argument(where, word) for word in words[3:] if word[0] != "+"]
    added = [parse_argument(where, word[1:]) for word in words[3:] if word[0] == "+"]
    special = "special" in flags
    if added and not special:
        raise Failure("%s: only special functions have added outcomes" % where)
    return Function(name, class_, [f for f in FLAGS if f in flags], special, arguments, added, False)


def parse_def(text, name="mpi.def"):
    """The functions of mpi.def by name, in order."""
    lines = []
    for number_, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] == " ":
            if not lines:
                raise Failure("%s:%d: nothing to continue" % (name, number_))
            lines[-1][1].extend(line.split())
        else:
            lines.append(("%s:%d" % (name, number_), line.split()))
    functions = {}
    for where, words in lines:
        function = parse_line(where, words)
        if function.name in functions:
            raise Failure("%s: %s is here twice" % (where, function.name))
        functions[function.name] = function
    return functions


# ---- mpi.h ----

Parameter = namedtuple("Parameter", "before name after base depth const")
Prototype = namedtuple("Prototype", "name parameters")
Header = namedtuple("Header", "functions handles pointers has_session")


def preprocess(flavour, compiler):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "header.c")
        with open(source, "w") as file:
            file.write(BEFORE_MPI_H.get(flavour, "") + "#include <mpi.h>\n" +
                       AFTER_MPI_H.get(flavour, ""))
        command = shlex.split(compiler) + ["-std=c11", "-E", "-P", source]
        try:
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    universal_newlines=True)
        except OSError as error:
            raise Failure("%s: %s" % (command[0], error.strerror))
    if result.returncode:
        raise Failure("%s failed: %s" % (" ".join(command[:-1]),
                                         (result.stderr.strip().splitlines() or [""])[0]))
    return result.stdout


def closing(text, start):
    """The position after the parenthesis that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise Failure("mpi.h: a parenthesis is not closed")


def without_attributes(text):
    parts, position = [], 0
    for match in re.finditer(r"__attribute__\s*\(", text):
        if match.start() < position:
            continue
        parts.append(text[position:match.start()])
        position = closing(text, match.end() - 1)
    return "".join(parts) + text[position:]


def parse_parameter(text):
    text = text.strip()
    if text == "...":
        return Parameter("", "...", "", "...", 0, False)
    match = re.match(r"^(.*?)([A-Za-z_]\w*)\s*((?:\[\d*\]\s*)*)$", text)
    before, name, after = match.groups() if match else (text, "", "")
    words = [w for w in re.findall(r"\w+", before) if w not in ("const", "struct")]
    if not words:  # a type without a name
        before, name = text + " ", ""
        words = [w for w in re.findall(r"\w+", text) if w != "const"]
    before = re.sub(r"\s*\*\s*", "*", before.strip())
    before = re.sub(r"^([^*]*)(\**)$", r"\1 \2", before)
    return Parameter(before, name, re.sub(r"\s", "", after), " ".join(words),
                     before.count("*") + after.count("["), bool(re.match(r"const\b", before)))


def wanted(name):
    return (not name.startswith("MPI_T_")
            and not re.search(r"_(c2f|f2c|c2f08|f082c|f082f|f2f08|toint)$", name))


def parse_header(text):
    text = re.sub(r"\s+", " ", without_attributes(text))
    profiled = set(re.findall(r"\bint PMPI_(\w+) ?\(", text))
    functions = {}
    for match in re.finditer(r"\bint (MPI_\w+) ?\(", text):
        name = match.group(1)
        inside = text[match.end():closing(text, match.end() - 1) - 1].strip()
        if not wanted(name) or name[4:] not in profiled:
            continue
        parameters = [] if inside in ("", "void") else inside.split(",")
        functions[name[4:]] = Prototype(name[4:], [parse_parameter(p) for p in parameters])
    # Extensions (MPIX_) have keys of their own: one may be there beside the standard's function.
    early = set(re.findall(r"\bint PMPIX_(\w+) ?\(", text))
    for match in re.finditer(r"\bint MPIX_(\w+) ?\(", text):
        name = match.group(1)
        if name in early and name not in functions and wanted("MPI_" + name):
            inside = text[match.end():closing(text, match.end() - 1) - 1]
            functions["X:" + name] = Prototype(name, [parse_parameter(p)
                                                      for p in inside.split(",")])
    handles = re.findall(r"\bextern struct ompi_predefined_\w+ (ompi_\w+) ?;", text)
    pointers = re.findall(r"\bextern ((?:const )?\w+ ?\* ?(?:const )?)(MPI_[A-SU-Z]\w*) ?;", text)
    return Header(functions, handles, pointers, re.search(r"\bMPI_Session\b", text) is not None)


# ---- both together ----

# prefix: MPIX_ of what this MPI has only under the name of an extension, as it does what the
# function of the standard does; enumerators and members of the table are MPI_ all the same.
Bound = namedtuple("Bound", "name function prototype inputs outcomes prefix")
Word = namedtuple("Word", "name schema")


def check_type(name, argument, parameter):
    """Whether the C type is one that the argument's kind can be made of."""
    is_list = argument.length is not None or argument.kind == "indices"
    if argument.kind in ROLES:
        wanted_types, depths = (ROLES[argument.kind],), (1,)
        if ROLES[argument.kind] is None:
            return
    else:
        kind = KINDS[argument.kind]
        wanted_types = kind.types
        if is_list:
            depths = (1, 2)
            wanted_types = tuple(kind.lists)
        elif argument.kind in ("buffer", "string") or argument.direction in ("out", "free",
                                                                            "later"):
            depths = (1,)
        else:
            depths = (0, 1)
    if parameter.base not in wanted_types or parameter.depth not in depths:
        raise Failure("MPI_%s: '%s' cannot be %s: its type is '%s%s'" %
                      (name, argument.name, argument.kind, parameter.before, parameter.after))
    if parameter.const and argument.direction in ("out", "io", "free", "later"):
        raise Failure("MPI_%s: '%s' is const and cannot be %s" %
                      (name, argument.name, argument.direction))


def check_names(name, function):
    """Conditions, lengths and details refer to arguments of the function."""
    names = {a.name for a in function.arguments}
    for argument in function.arguments:
        used = []
        if argument.length and argument.length not in LENGTHS:
            used += argument.length.split("*")
        for detail in argument.details or []:
            used += detail.split("*")
        for condition in argument.conditions:
            used += re.findall(r"\b(?:root|sendbuf|recvbuf|op)\b", CONDITIONS[condition])
            used += {"root": ["root", "comm"], "leader": ["local_comm", "local_leader"],
                     "firstofgroup": ["local_group", "local_leader"]}.get(condition, [])
        for word in used:
            if word not in names and not word.isdigit() and word not in ("any", "-", "all", "some"):
                raise Failure("MPI_%s: '%s' refers to '%s', which is no argument" %
                              (name, argument.name, word))


def input_words(function):
    words = []
    for a in function.arguments:
        if a.kind == "cancel":
            words.append(Word(a.name, "REQUEST"))
        elif a.kind in KINDS and a.direction in ("in", "io", "free"):
            words.append(Word(a.name, KINDS[a.kind].schema + ("|LIST" if a.length else "")))
    return words


def outcome_words_of(function, a):
    if a.kind == "status":
        return [Word("source", "RANK"), Word("tag", "TAG"), Word("bytes", "BYTES")]
    if a.kind == "moved":
        return [Word("bytes", "BYTES")]
    if a.kind == "completed":
        return [Word(a.name, "COMPLETIONS")]
    if a.kind == "index":
        return [Word(a.name, "INT")]
    if a.kind == "indices":
        return [Word(a.name, "INT|LIST")]
    if a.kind == "made" and "persistent" in function.flags:
        return [Word(a.name, "REQUEST")]
    if a.kind in KINDS and a.direction in ("out", "io", "later"):
        return [Word(a.name, KINDS[a.kind].schema + ("|LIST" if a.length else ""))]
    return []


def outcome_words(function):
    return [word for a in function.arguments + function.added
            for word in outcome_words_of(function, a)]


def bind(name, function, prototype, prefix="MPI_"):
    if len(function.arguments) != len(prototype.parameters):
        raise Failure("MPI_%s: %d arguments in mpi.h, %d in mpi.def" %
                      (name, len(prototype.parameters), len(function.arguments)))
    parameters = []
    for argument, parameter in zip(function.arguments, prototype.parameters):
        check_type(name, argument, parameter)
        parameters.append(parameter if parameter.base == "..."
                          else parameter._replace(name=argument.name))
    check_names(name, function)
    roles = {a.kind for a in function.arguments}
    if ("done" in roles) != ("poll" in function.flags) and "completed" not in roles:
        raise Failure("MPI_%s: a poll has an argument of kind 'done'" % name)
    if ("made" in roles) != bool({"nonblocking", "persistent"} & set(function.flags)):
        raise Failure("MPI_%s: a request is made by nonblocking and persistent calls" % name)
    bound = Bound(name, function, Prototype(name, parameters), input_words(function),
                  outcome_words(function), prefix)
    if max(len(bound.inputs), len(bound.outcomes)) > PARAMS_MAX:
        raise Failure("MPI_%s: more than %d words" % (name, PARAMS_MAX))
    return bound


KIND_OF_HANDLE = {KINDS[name].types[0]: name for name in HANDLES if name != "keyval"}
LOCALS = ("call", "rc", "done", "own")  # of a wrapper


def derive_argument(parameter, position, last, comms):
    """comms: how many communicators come before."""
    name = parameter.name if parameter.name and parameter.name not in LOCALS else "argument%d" % position
    kind, direction = KIND_OF_HANDLE.get(parameter.base), "in"
    if parameter.base in NUMBERS and parameter.depth == 0:
        kind = "int"
    elif kind == "request" and parameter.depth == 1 and last and not parameter.const:
        return Argument(name, "in", "made", None, (), [])
    elif not kind or parameter.depth > 1 or (parameter.depth == 1 and (
            kind == "request" or parameter.const or parameter.after)):
        kind = "skip"
    elif parameter.depth == 1:
        direction = "out"
    elif kind == "comm" and comms:
        kind = "peer"
    return Argument(name, direction, kind, None, (), None)


def derive(prototype):
    """What mpi.def might say of a function that it does not have: numbers and handles are recorded, a
    handle behind a pointer is an outcome, a request that is the last argument is made. None: it has
    arguments that are not understood; it is not recorded."""
    arguments = []
    for i, parameter in enumerate(prototype.parameters):
        if re.search(r"[()]", parameter.before + parameter.after) or parameter.base == "...":
            return None
        arguments.append(derive_argument(parameter, i, i + 1 == len(prototype.parameters),
                                         sum(a.kind == "comm" for a in arguments)))
    flags = ["nonblocking"] if any(a.kind == "made" for a in arguments) else []
    return Function(prototype.name, "OTHER", flags, False, arguments, [], True)


def bind_all(functions, header):
    """The functions of the header in the order of mpi.def, large-count forms after their base; then
    those that mpi.def does not have."""
    bound = []
    for name, function in functions.items():
        for form in (name, name + "_c"):
            if form in header and (form == name or form not in functions):
                bound.append(bind(form, function, header[form]))
        if "X:" + name in header:
            bound.append(bind(name, function, header["X:" + name], "MPIX_"))
    known = {b.name for b in bound}
    for name in header:
        function = derive(header[name]) if name not in known and not name.startswith("X:") else None
        if function:
            bound.append(bind(name, function, header[name]))
    if not bound:
        raise Failure("mpi.h: no MPI function found")
    return bound


# ---- C text ----

def wrap(head, items, tail):
    """head + comma separated items + tail, broken at column 100 and aligned behind head."""
    indent, lines, line = " " * len(head), [], head
    for i, item in enumerate(items):
        item += "," if i + 1 < len(items) else tail
        if line.strip() != head.strip() and len(line) + 1 + len(item) > 100:
            lines.append(line)
            line = indent + item
        else:
            line += ("" if line.endswith("(") or line == indent else " ") + item
    return "\n".join(lines + [line if items else head + tail])


def declaration(parameter):
    if parameter.base == "...":
        return "..."
    space = "" if parameter.before.endswith("*") else " "
    return parameter.before.rstrip() + space + parameter.name + parameter.after


def declarations(prototype):
    return [declaration(p) for p in prototype.parameters] or ["void"]


def value_of(kind, parameter):
    """The argument's value, read through the pointer where it is one."""
    if parameter.depth == 0 or kind.null == "":
        return parameter.name
    return "%s ? *%s : %s" % (parameter.name, parameter.name, kind.null)


def length_of(argument):
    if argument.length in LENGTHS:
        expression, local = LENGTHS[argument.length]
        return argument.length if local else expression
    factors = argument.length.split("*")
    return " * ".join(factors[:-1] + ["(int64_t)" + factors[-1]] if len(factors) > 1 else factors)


def bytes_of(detail):
    if detail == "-":
        return "-1"
    factors = detail.split("*")
    count = " * ".join(["(int64_t)" + factors[0]] + factors[1:-1])
    return "bytes_of(%s, %s)" % (factors[0] if len(factors) == 2 else count, factors[-1])


def message_of(details):
    source, tag, size = details
    return "%s, %s, %s" % ("MPI_ANY_SOURCE" if source == "any" else source,
                           "MPI_ANY_TAG" if tag == "any" else tag, bytes_of(size))


def input_statements(argument, parameter):
    """What reads an input that is significant, and what stands for one that is not."""
    if argument.kind == "cancel":
        return ["rec_in_request(call, %s);" % value_of(KINDS["request"], parameter)], ""
    kind = KINDS[argument.kind]
    if argument.length:
        pointer = parameter.name
        if parameter.depth == 2:
            pointer = "(const %s *)%s" % (parameter.base, pointer)
        statement = "%s(call, %s, %s);" % (kind.lists[parameter.base], pointer,
                                           length_of(argument))
        return [statement], "rec_in_int(call, RFN_LIST_ABSENT);"
    value = "old_" + argument.name if has_old(argument) else value_of(kind, parameter)
    statement = "rec_in_%s(call, %s);" % (kind.scalar, value)
    if argument.kind == "peer":  # call->comm stays the communicator of the call
        statements = ["const struct rec_comm *own = call->comm;", statement, "call->comm = own;"]
    else:
        statements = [statement]
    return statements, "rec_in_int(call, %s);" % kind.insignificant


def has_old(argument):
    return argument.direction == "free" and argument.kind != "request"


def condition_of(conditions):
    return " && ".join(CONDITIONS[c] for c in conditions)


def local_statements(bound):
    """Variables that the inputs need: handles before they are freed, roles, lengths."""
    statements = []
    arguments = bound.function.arguments
    for argument, parameter in zip(arguments, bound.prototype.parameters):
        if has_old(argument):
            kind = KINDS[argument.kind]
            statements.append("const %s old_%s = %s;" % (kind.types[0], argument.name,
                                                         value_of(kind, parameter)))
    for condition, statement in CONDITION_LOCALS.items():
        if any(condition in a.conditions for a in arguments):
            statements.append(statement)
    sized = [a for a in arguments if a.length == "size"]
    if sized:
        conditions = {a.conditions for a in sized}
        size = LENGTHS["size"][0]
        if len(conditions) == 1 and sized[0].conditions:
            size = "%s ? %s : 0" % (condition_of(sized[0].conditions), size)
        statements.append("const int64_t size = %s;" % size)
    if any(a.length in ("sources", "destinations") for a in arguments):
        statements += ["int n_sources = 0, n_destinations = 0;",
                       "rec_comm_neighbors(comm, &n_sources, &n_destinations);"]
    return statements


def before_lines(bound):
    """Lines before the call: inputs, grouped by condition, and statuses."""
    lines = local_statements(bound)
    group, significant, insignificant = (), [], []

    def flush():
        if group:
            braces = len(significant) > 1
            lines.append("if (%s)%s" % (condition_of(group), " {" if braces else ""))
            lines.extend("    " + s for s in significant)
            lines.append("} else {" if braces else "else")
            lines.extend("    " + s for s in insignificant)
            lines.extend(["}"] if braces else [])
        else:
            lines.extend(significant)

    for argument, parameter in zip(bound.function.arguments, bound.prototype.parameters):
        is_input = argument.kind in KINDS and argument.direction in ("in", "io", "free")
        if not is_input and argument.kind != "cancel":
            continue
        if argument.conditions != group:
            flush()
            group, significant, insignificant = argument.conditions, [], []
        statements, other = input_statements(argument, parameter)
        significant.extend(statements)
        insignificant.append(other)
    flush()
    lines += ["rec_free_%s(call, old_%s);" % (a.kind, a.name)
              for a in bound.function.arguments if has_old(a)]
    return lines + status_lines(bound)


def status_lines(bound):
    """Statuses that the program ignores. That there are several shows in the table; in prototypes
    an array may be a pointer."""
    lines = []
    lengths = [a.length for a in bound.function.arguments if a.length]
    for argument in bound.function.arguments:
        if argument.kind in ("status", "moved", "completed"):
            several = argument.kind == "completed" and argument.details[0] != "any" and lengths
            if several:
                lines.append("%s = rec_statuses(call, %s, %s);" % (argument.name, argument.name,
                                                                   lengths[0]))
            else:
                lines.append("%s = rec_status(call, %s);" % (argument.name, argument.name))
    return lines


def request_flags(function, argument):
    flags = ["REC_REQUEST_RECV"] if argument.details else []
    flags += ["REC_REQUEST_PERSISTENT"] if "persistent" in function.flags else []
    return " | ".join(flags) or "0"


def outcome_statements(function, argument, parameter):
    """Statements after a call that succeeded."""
    name = argument.name
    if argument.kind == "made":
        return ["rec_out_request(call, *%s, %s, %s);" %
                (name, request_flags(function, argument),
                 message_of(argument.details) if argument.details else "0, 0, -1")]
    if argument.kind == "status":
        return ["rec_out_status(call, %s, %s);" % (name, message_of(argument.details))]
    if argument.kind == "moved":
        return ["rec_out_moved(call, %s, %s);" % (name, bytes_of(argument.details[0]))]
    if argument.kind == "cancel":
        return ["rec_out_cancelled(call);"]
    if argument.kind not in KINDS or argument.direction == "in":
        return []
    if argument.direction == "free":
        if argument.kind == "request":
            return ["rec_out_request_freed(call);"]
        return []
    if argument.direction == "later":
        return ["rec_out_comm_later(call, %s);" % name]
    if argument.length:
        return ["rec_out_ints(call, %s, %s);" % (name, length_of(argument))]
    scalar = argument.kind if argument.kind in HANDLES else "int"
    statement = "rec_out_%s(call, *%s);" % (scalar, name)
    if function.derived:  # the program may pass a null pointer
        return ["if (%s)" % name, "    " + statement, "else", "    rec_out_unknown(call, 1);"]
    return [statement]


def completion_lines(bound):
    """Completion calls: they tell something also when they fail."""
    by_kind = {a.kind: a for a in bound.function.arguments}
    which, status = by_kind["completed"].details[0], by_kind["completed"].name
    if which == "some":
        return ["rec_out_completed_some(call, completed_of(rc, %s), %s, %s);" %
                (by_kind["outcount"].name, by_kind["indices"].name, status)]
    done = "rc != MPI_SUCCESS || *%s" % by_kind["done"].name if "done" in by_kind else "1"
    index = "*%s, " % by_kind["index"].name if which == "any" else ""
    return ["rec_out_completed_%s(call, %s, %s%s);" % (which, done, index, status)]


def after_lines(bound):
    """Lines after the call."""
    function = bound.function
    if any(a.kind == "completed" for a in function.arguments):
        return completion_lines(bound)
    freed = [a for a in function.arguments if has_old(a)]
    lines = ["rec_freed_%s(call, old_%s);" % (a.kind, a.name) for a in freed]
    known = "rc == MPI_SUCCESS"
    flags = [a.name for a in function.arguments if a.kind == "done"]
    if flags:
        lines += ["const bool done = rc == MPI_SUCCESS && *%s;" % flags[0],
                 "rec_out_poll(call, done);"]
        known = "done"
    statements = []
    for argument, parameter in zip(function.arguments, bound.prototype.parameters):
        statements.extend(outcome_statements(function, argument, parameter))
    if not statements:
        return lines
    braces = len(statements) > 1
    lines.append("if (%s)%s" % (known, " {" if braces else ""))
    lines.extend("    " + s for s in statements)
    if bound.outcomes:
        lines.append("} else {" if braces else "else")
        lines.append("    rec_out_unknown(call, %d);" % len(bound.outcomes))
    if braces:
        lines.append("}")
    return lines


def is_rare(bound):
    """Not called in inner loops: may be optimized for size, which compiles faster."""
    return (bound.function.class_ in ("OTHER", "COMM", "FILE") or bound.name.endswith("_c")
            or "persistent" in bound.function.flags)


# Calls that no process of the communicator leaves before all have entered it, as each gets something
# of every other one; and of what there has to be more than 0, of a datatype that is not empty (both
# together the same on all of them). Where each pair has an amount of its own, as in MPI_Alltoallv,
# who gets nothing may leave at once.
SYNCHRONIZING = {"Barrier": (None, "MPI_BYTE"), "Allreduce": ("count", "datatype"),
                 "Allgather": ("recvcount", "recvtype"), "Alltoall": ("recvcount", "recvtype"),
                 "Reduce_scatter_block": ("recvcount", "datatype")}


def online_merge_lines(bound, call):
    """What lets ranks merge after the call."""
    name = re.sub(r"_c$", "", bound.name)
    if name not in SYNCHRONIZING:
        return []
    amount, datatype = SYNCHRONIZING[name]
    return ["if (__builtin_expect(rec_meetings_count, 0)%s)" % (" && %s > 0" % amount if amount else ""),
            "    rec_synchronized(%s, comm, %s, rc);" % (call, datatype)]


def wrapper(bound, flavour):
    name = "MPI_" + bound.name
    call = wrap("rec_next.%s(" % name, [p.name for p in bound.prototype.parameters], ")")
    exported = bound.prefix + bound.name
    lines = [wrap("%sREC_EXPORT int %s(" % ("RARE " if is_rare(bound) else "", exported),
                  declarations(bound.prototype), ")"), "{"]
    body = ["struct rec_call *call = rec_enter(REC_FN_%s, __builtin_frame_address(0));" % name]
    if flavour != "smpi":
        body += ["if (__builtin_expect(!rec_next.%s, 0))" % name,
                 "    rec_mpi_missing(REC_FN_%s);" % name]
    online_merge = online_merge_lines(bound, "NULL")
    if online_merge:
        body += ["if (!call) {",
                 "    const int rc = " + call.replace("\n", "\n                   ") + ";",
                 *("    " + line for line in online_merge), "    return rc;", "}"]
    else:
        body += ["if (!call)", "    return " + call.replace("\n", "\n           ") + ";"]
    body += before_lines(bound)
    body += ["rec_begin(call);", "const int rc = " + call.replace("\n", "\n               ") + ";",
             "rec_end(call, rc);"]
    body += after_lines(bound)
    body += ["rec_leave(call);", *online_merge_lines(bound, "call"), "return rc;"]
    lines += ["    " + line.replace("\n", "\n    ") for line in body]
    return "\n".join(lines + ["}", ""])


# ---- files ----

NOTE = "/* Generated by gen_wrappers.py from mpi.def and mpi.h. */\n"

HELPERS = {
    "bytes_of": """\
/* Room for count elements, -1 when the datatype is none. */
static int64_t bytes_of(int64_t count, MPI_Datatype type)
{
    int64_t size = rec_type_size(type);
    return size < 0 ? -1 : count * size;
}
""",
    "local_size": """\
static int64_t local_size(MPI_Comm comm)
{
    const struct rec_comm *known = rec_comm_of(comm);
    return known ? known->size : 0;
}
""",
    "cart_dims": """\
static int64_t cart_dims(MPI_Comm comm)
{
    int n = 0;
    return rec_mpi.MPI_Cartdim_get(comm, &n) == MPI_SUCCESS ? n : 0;
}
""",
    "leads": """\
static bool leads(MPI_Group group, int leader)
{
    int rank = MPI_UNDEFINED;
    return rec_mpi.MPI_Group_rank(group, &rank) == MPI_SUCCESS && rank == leader;
}
""",
    "last_of": """\
/* The number of edges of a graph: `index` counts the neighbours up to each node. */
static int64_t last_of(const int *index, int n)
{
    return index && n > 0 ? index[n - 1] : 0;
}
""",
    "sum_of": """\
static int64_t sum_of(const int *values, int n)
{
    int64_t sum = 0;
    for (int i = 0; values && i < n; i++)
        sum += values[i];
    return sum;
}
""",
    "completed_of": """\
/* The number of completed requests; when the call failed it is there only if some of them did. */
static int completed_of(int rc, const int *outcount)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS)
        rec_mpi.MPI_Error_class(rc, &class);
    return class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS ? *outcount : 0;
}
""",
}


def wrappers_c(bound, flavour):
    bodies = "\n".join(wrapper(b, flavour) for b in bound if not b.function.special)
    helpers = "\n".join(text for name, text in HELPERS.items()
                        if re.search(r"\b%s\(" % name, bodies))
    return ('%s#include "record/handles/comms.h"\n#include "record/finish/online_merge.h"\n'
            '#include "record/handles/params.h"\n\n'
            "/* Optimized for size. */\n#define RARE __attribute__((cold))\n\n%s\n%s" %
            (NOTE, helpers, bodies))


def functions_h(bound):
    names = "".join("    REC_FN_MPI_%s,\n" % b.name for b in bound)
    own = "".join("    REC_FN_%s%s,\n" % (name, "" if i else " = REC_FN_COUNT")
                  for i, (name, *_) in enumerate(OWN))
    return ("%s#ifndef RFN_RECORD_FUNCTIONS_GEN_H\n#define RFN_RECORD_FUNCTIONS_GEN_H\n\n"
            '#include "event/kind.h"\n\nenum rec_fn {\n%s'
            "    REC_FN_COUNT, /* of MPI's functions; what follows is Refrain's own */\n%s};\n\n"
            "/* The schemas, by enum rec_fn. */\n"
            "extern const struct rfn_function_info rec_functions[];\n\n#endif\n" %
            (NOTE, names, own))


def schema_kind(schema):
    parts = schema.split("|")
    return " | ".join("RFN_KIND_" + part for part in parts)


def functions_c(bound):
    """Schemas; functions with the same parameters share them."""
    parameters, offsets, rows, n = [], {}, [], 0
    for b in bound:
        key = (tuple(b.inputs), tuple(b.outcomes))
        words = len(b.inputs) + len(b.outcomes)
        if key not in offsets:
            offsets[key] = n
            n += words
            parameters += ['    {"%s", %s, 0},\n' % (w.name, schema_kind(w.schema))
                           for w in b.inputs]
            parameters += ['    {"%s", %s, RFN_PARAM_OUT},\n' % (w.name, schema_kind(w.schema))
                           for w in b.outcomes]
        flags = " | ".join("RFN_FUNCTION_" + f.upper() for f in b.function.flags) or "0"
        rows.append('    {"%s", RFN_CLASS_%s,\n     %s, %d, %d, %s},\n' %
                    (b.prefix + b.name, b.function.class_, flags, len(b.inputs), len(b.outcomes),
                     "params + %d" % offsets[key] if words else "NULL"))
    for name, class_, inputs, outcomes, flags in OWN:
        rows.append('    {"%s", RFN_CLASS_%s, %s, %d, %d, params + %d},\n' %
                    (name, class_, flags, len(inputs), len(outcomes), n))
        parameters += ['    {"%s", RFN_KIND_%s, 0},\n' % word for word in inputs]
        parameters += ['    {"%s", RFN_KIND_%s, RFN_PARAM_OUT},\n' % word for word in outcomes]
        n += len(inputs) + len(outcomes)
    return ('%s#include "record/functions.gen.h"\n\n#include <stddef.h>\n\n'
            '_Static_assert(RFN_PARAMS_MAX == %d, "gen_wrappers.py knows another limit");\n\n'
            "static const struct rfn_param_info params[] = {\n%s};\n\n"
            "const struct rfn_function_info rec_functions[] = {\n%s};\n" %
            (NOTE, PARAMS_MAX, "".join(parameters), "".join(rows)))


TABLE_H = """\
%(note)s#ifndef RFN_RECORD_MPI_TABLE_GEN_H
#define RFN_RECORD_MPI_TABLE_GEN_H

%(before)s#include <mpi.h>
%(session)s
#define REC_EXPORT __attribute__((visibility("default")))

/* MPI's own functions (their PMPI_ entries), and its data. Empty until rec_mpi_fill; what the
 * library does not have stays NULL. */
struct rec_mpi_table {
%(members)s};

extern struct rec_mpi_table rec_mpi __attribute__((visibility("hidden")));

/* Where calls of the program are passed on to: what the linker would have found without the
 * recorder. That is the same, or the function of another layer that wraps MPI (a library that the
 * program is linked with, or a tool that is loaded behind the recorder). */
%(next)s

/* Fills the tables from a library that dlopen gave; RFN_E_NOTFOUND when it is no MPI library. */
int rec_mpi_fill(void *library);

/* Names under which the dynamic linker may have loaded MPI; ends with NULL. */
extern const char *const rec_mpi_library_names[];

/* The program called an MPI function (enum rec_fn) that its library does not have: says so and
 * ends the process as the dynamic linker would have. */
_Noreturn void rec_mpi_missing(unsigned function) __attribute__((cold));
%(macros)s
#endif
"""

TABLE_C_START = """\
%(note)s#include "record/functions.gen.h"
#include "record/mpi_table.gen.h"
#include "refrain/error.h"

#include <stdio.h>
#include <unistd.h>
%(includes)s
const char *const rec_mpi_library_names[] = {%(libraries)sNULL};

_Noreturn void rec_mpi_missing(unsigned function)
{
    char text[160];
    int n = snprintf(text, sizeof text, "refrain: %%s: the MPI library does not have it\\n",
                     rec_functions[function].name);
    if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(126);
    _exit(127);
}

"""

TABLE_C_DYNAMIC = """\
struct rec_mpi_table rec_mpi, rec_next;

/* What follows the functions of rec_functions in the table. */
static const char *const others[] = {
%(others)s};

_Static_assert(sizeof rec_mpi == (REC_FN_COUNT + sizeof others / sizeof *others) * sizeof(void *),
               "the table has a member for every name");

%(absent)s/* Members are set as bytes: ISO C has no conversion from data to function pointers. */
static void *set(void *member, void *address)
{
    memcpy(member, &address, sizeof address);
    return (char *)member + sizeof address;
}

/* What another layer has behind the recorder under the name of a function of MPI, or MPI's own. */
static void *find_next(void *library, const char *name, void *own)
{
    Dl_info of_next, of_mpi;
    void *next = dlsym(RTLD_NEXT, name);
    if (!own) /* MPICH 5's libmpi_abi has MPI_File_close, but no PMPI_File_close. */
        return next ? next : dlsym(library, name);
    return next && next != own && dladdr(next, &of_next) && dladdr(own, &of_mpi) &&
                   of_next.dli_fbase != of_mpi.dli_fbase
               ? next
               : own;
}

int rec_mpi_fill(void *library)
{
    char symbol[%(symbol_max)d] = "P";
    void *member = &rec_mpi, *next = &rec_next;
    size_t found = 0;
    for (unsigned f = 0; f < REC_FN_COUNT; f++) {
        strcpy(symbol + 1, rec_functions[f].name);
        void *address = dlsym(library, symbol);
        found += address != NULL;
        member = set(member, address);
        next = set(next, find_next(library, symbol + 1, address));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        /* An executable may hold a copy of a library's data, which then all use: that one first. */
        void *address = dlsym(RTLD_DEFAULT, others[i]);
        if (!address)
            address = dlsym(library, others[i]);
        member = set(member, address%(otherwise)s);
    }
    return found ? 0 : RFN_E_NOTFOUND;
}
"""

TABLE_C_STATIC = """\
struct rec_mpi_table rec_mpi = {
%(values)s};

int rec_mpi_fill(void *library)
{
    (void)library;
    return 0;
}
"""


def data_of(flavour, header):
    """Data symbols of the library that mpi.h's constants stand for, and the macros that lead to
    the table instead."""
    if flavour == "smpi":  # linked with MPI
        return [], [], ""
    members, symbols, macros = [], [], ""
    for symbol in header.handles:
        members.append("    void *data_%s;\n" % symbol)
        symbols.append(symbol)
    if header.handles:
        macros += ("#undef OMPI_PREDEFINED_GLOBAL\n"
                   "#define OMPI_PREDEFINED_GLOBAL(type, global) ((type)rec_mpi.data_##global)\n")
    for c_type, symbol in header.pointers:
        members.append("    %s*data_%s;\n" % (re.sub(r" ?\* ?", " *", c_type), symbol))
        symbols.append(symbol)
        macros += "#undef %s\n#define %s (*rec_mpi.data_%s)\n" % (symbol, symbol, symbol)
    if macros:
        macros = ("\n/* mpi.h's constants are data of the library, which may not be loaded: they "
                  "are reached\n * through the table. */\n") + macros
    return members, symbols, macros


CLOCKS = ("Wtime", "Wtick")  # not wrapped


def table_h(bound, flavour, header):
    members = "".join(wrap("    int (*MPI_%s)(" % b.name, declarations(b.prototype), ");") + "\n"
                      for b in bound)
    members += "".join("    double (*MPI_%s)(void);\n" % name for name in CLOCKS)
    data, _, macros = data_of(flavour, header)
    session = "\n#define REC_HAVE_SESSION 1\n" if header.has_session else ""
    next_table = ("#define rec_next rec_mpi" if flavour == "smpi" else
                  'extern struct rec_mpi_table rec_next __attribute__((visibility("hidden")));')
    return TABLE_H % {"next": next_table, "note": NOTE, "before": BEFORE_MPI_H.get(flavour, ""), "session": session,
                      "members": members + "".join(data), "macros": macros}


def table_c(bound, flavour, header):
    names = [b.name for b in bound] + list(CLOCKS)
    _, symbols, _ = data_of(flavour, header)
    start = TABLE_C_START % {
        "note": NOTE,
        "includes": "" if flavour == "smpi" else "#include <dlfcn.h>\n#include <string.h>\n",
        "libraries": "".join('"%s", ' % name for name in LIBRARIES[flavour])}
    start = start.replace("#include <stdio.h>\n#include <unistd.h>\n#include <dlfcn.h>\n"
                          "#include <string.h>\n",
                          "#include <dlfcn.h>\n#include <stdio.h>\n#include <string.h>\n"
                          "#include <unistd.h>\n")
    if flavour == "smpi":
        values = "".join("    .MPI_%s = PMPI_%s,\n" % (name, name) for name in names)
        return start + TABLE_C_STATIC % {"values": values}
    longest = max(len("PMPI_" + name) for name in names)
    if longest > SYMBOL_MAX:
        raise Failure("a function's name is longer than %d" % SYMBOL_MAX)
    others = ["PMPI_" + name for name in CLOCKS] + symbols
    otherwise = " ? address : &absent" if header.pointers else ""
    absent = ("/* In place of data that the library does not have. */\nstatic void *absent;\n\n"
              if otherwise else "")
    return start + TABLE_C_DYNAMIC % {
        "others": "".join('    "%s",\n' % name for name in others), "absent": absent,
        "symbol_max": SYMBOL_MAX + 1, "otherwise": otherwise}


# ---- documentation ----

def words_text(words):
    return ", ".join("%s%s" % (w.name, " (list)" if w.schema.endswith("|LIST") else "")
                     for w in words) or "-"


# ---- main ----

def generate(flavour, def_text, header_text):
    """All files by name, and the bound functions."""
    functions = parse_def(def_text)
    header = parse_header(header_text)
    bound = bind_all(functions, header.functions)
    files = {
        "functions.gen.h": functions_h(bound),
        "functions.gen.c": functions_c(bound),
        "mpi_table.gen.h": table_h(bound, flavour, header),
        "mpi_table.gen.c": table_c(bound, flavour, header),
        "wrappers.gen.c": wrappers_c(bound, flavour),
    }
    return files, functions, bound


def write_file(path, text):
    with open(path, "w") as file:
        file.write(text)


def tell_unknown(bound, header):
    """What of the header mpi.def does not have, and what of it is recorded all the same."""
    derived = ["MPI_" + b.name for b in bound if b.function.derived]
    known = {b.name for b in bound}
    others = ["MPI_" + name for name in header if name not in known and not name.startswith("X:")]
    if derived:
        print("gen_wrappers.py: mpi.def lacks %s: the recorder records only their numbers, handles and "
              "new requests, and only in calls from C" % ", ".join(derived))
    if others:
        print("gen_wrappers.py: mpi.def lacks %s, which have callbacks: they are not recorded" %
              ", ".join(others))


def main():
    parser = argparse.ArgumentParser(description="Generates the wrappers of one MPI.")
    parser.add_argument("--flavour", required=True, choices=sorted(LIBRARIES))
    parser.add_argument("--cc", required=True, help="compiler that finds this MPI's mpi.h")
    parser.add_argument("--def", required=True, dest="definitions", help="mpi.def")
    parser.add_argument("--out", help="folder of the generated files")
    options = parser.parse_args()
    try:
        with open(options.definitions) as file:
            definitions = file.read()
        header = preprocess(options.flavour, options.cc)
        files, _, bound = generate(options.flavour, definitions, header)
        tell_unknown(bound, parse_header(header).functions)
        if options.out:
            os.makedirs(options.out, exist_ok=True)
            for name, text in files.items():
                write_file(os.path.join(options.out, name), text)
    except (Failure, OSError) as error:
        sys.exit("gen_wrappers.py: %s" % error)


if __name__ == "__main__":
    main()
