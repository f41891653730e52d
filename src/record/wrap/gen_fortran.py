#!/usr/bin/env python3
"""Generates the Fortran entries of one MPI, from the same table and header as gen_wrappers.py.

The file, fortran.gen.c, has three parts (record/wrap/fortran.h tells how they work together). For the
standard ABI it has the first only:

  PMPI_X          the C functions under their second name, for calls that come from an entry
  mpi_x_ ...      the entries of mpif.h and `use mpi`, in all manglings (mpi_x, mpi_x_, mpi_x__,
                  MPI_X), and the entries of `use mpi_f08` (mpi_x_f08_ and others, below)
  direct entries  of functions that MPI's Fortran library does not pass on to a C function

An entry passes its arguments on as they are. All of them are addresses, except for the lengths of
strings, which gfortran and its relatives append to the list by value: as many words as the C
function has arguments, one for ierror, one per string.
"""

import argparse
import os
import re
import sys

import gen_wrappers
from gen_wrappers import Failure, wrap

# C arguments that Fortran does not have.
C_ONLY = {"Init": 2, "Init_thread": 2, "Info_create_env": 2}

# How the procedures of mpi_f08 end: also where a buffer has a descriptor (ts), and those with large
# counts. Which of them an MPI has depends on its version, so all have entries; MPI's own is looked
# up when one is called.
SUFFIXES = ("_f08_", "_f08ts_")
LARGE_SUFFIXES = ("_c_f08_", "_c_f08ts_", "_f08_c_", "_f08_large_", "_f08ts_large_")

# Functions of which Open MPI has a second form in mpif.h and `use mpi`, which returns a C_PTR.
C_POINTER_FORMS = ("Alloc_mem", "Win_allocate", "Win_allocate_shared", "Win_shared_query")

# Attributes, what holds functions of Fortran, and keys of an info: some libraries do these without
# the C function.
DIRECT = re.compile(r"^((Comm|Type|Win)_(get|set)_attr|Attr_(get|put)|Keyval_create|"
                    r"(Comm|Type|Win)_create_keyval|(Comm|File|Session|Win)_create_errhandler|"
                    r"Errhandler_create|Op_create(_c)?|Type_match_size|Info_get(_nthkey|_string)?)$")

DIRECT_HANDLES = {"comm": "Comm", "type": "Type", "win": "Win", "errhandler": "Errhandler",
                  "op": "Op", "info": "Info"}


def fortran_parameters(bound):
    parameters = [p for p in bound.prototype.parameters if p.base != "..."]
    return parameters[C_ONLY.get(bound.name, 0):]


def words_of(bound):
    """How many words an entry's argument list has."""
    parameters = fortran_parameters(bound)
    return len(parameters) + 1 + sum(1 for p in parameters if p.base == "char")


def manglings(lower):
    return [lower + "_", lower, lower + "__", lower.upper()]


def symbols_of(bound):
    """Lists of symbols that are one entry: the first is defined, the others are its aliases."""
    lower = "mpi_" + bound.name.lower()
    if bound.name.endswith("_c"):
        return [[lower[:-2] + suffix] for suffix in LARGE_SUFFIXES]
    symbols = [manglings(lower)]
    if bound.name in C_POINTER_FORMS:
        symbols.append(manglings(lower + "_cptr"))
    return symbols + [[lower + suffix] for suffix in SUFFIXES]


def aliases(symbols):
    return "".join('ALIAS(%s, %s)\n' % (symbol, symbols[0]) for symbol in symbols[1:])


# ---- C functions under their PMPI names ----

def profiled(bound):
    name = "MPI_" + bound.name
    parameters = bound.prototype.parameters
    names = [p.name for p in parameters if p.base != "..."]
    arguments = ", ".join(names)
    return "\n".join([
        wrap("REC_EXPORT int P%s(" % name, gen_wrappers.declarations(bound.prototype), ")"), "{",
        "    if (rec_fortran.awaited == REC_FN_%s + 1)" % name,
        "        return %s(%s);" % (name, arguments),
        "    if (__builtin_expect(!rec_mpi.%s, 0))" % name,
        "        rec_fortran_need(REC_FN_%s);" % name,
        "    if (!rec_this_stream || !rec_this_stream->inside)",
        "        rec_past_call(REC_FN_%s, __builtin_return_address(0));" % name,
        "    return rec_mpi.%s(%s);" % (name, arguments), "}", ""])


# ---- entries ----

def entry_macro(n):
    """ENTRYn(symbol, function): an entry with n arguments."""
    declared = ", ".join("void *a%d" % i for i in range(n)) or "void"
    passed = ", ".join("a%d" % i for i in range(n))
    body = ["typedef void entry_%d(%s);" % (n, ", ".join(["void *"] * n) or "void"),
            "#define ENTRY%d(symbol, function)" % n,
            "    REC_EXPORT void symbol(%s)" % declared, "    {",
            "        static entry_%d *next;" % n,
            "        if (__builtin_expect(!next, 0))",
            "            rec_fortran_find(&next, #symbol, function);",
            "        const bool outer = rec_fortran_enter(function, __builtin_frame_address(0));",
            "        next(%s);" % passed,
            "        if (outer)",
            "            rec_fortran_leave();",
            "    }"]
    return body[0] + "\n" + " \\\n".join(body[1:]) + "\n"


def entry(bound):
    return "".join("ENTRY%d(%s, REC_FN_MPI_%s)\n%s" %
                   (words_of(bound), symbols[0], bound.name, aliases(symbols))
                   for symbols in symbols_of(bound))


# ---- direct entries ----

def integer(argument, i):
    value = "*(const MPI_Fint *)a%d" % i
    if argument.kind in DIRECT_HANDLES or argument.kind == "keyval":
        return "%s_f2c(%s)" % (argument.kind, value)
    return value + (" != 0" if argument.kind == "flag" else "")


def direct_body(bound):
    name, arguments = "REC_FN_MPI_" + bound.name, bound.function.arguments
    n = len(arguments)
    passed = ["a%d" % i for i in range(words_of(bound))]
    call = "next(%s);" % ", ".join(passed[:n] + ["ierror"] + passed[n + 1:])
    strings = [i for i, p in enumerate(fortran_parameters(bound)) if p.base == "char"]
    inputs, outcomes = [], []
    for i, argument in enumerate(arguments):
        if argument.kind == "skip":
            continue
        if argument.kind == "string" and argument.direction == "in":
            inputs.append("rec_in_fortran_string(call, a%d, (uint32_t)(uintptr_t)a%d);" %
                          (i, n + 1 + strings.index(i)))
            continue
        if argument.kind not in set(DIRECT_HANDLES) | {"keyval", "flag", "int"}:
            raise Failure("MPI_%s: no direct entry with '%s'" % (bound.name, argument.kind))
        handle = argument.kind in DIRECT_HANDLES or argument.kind == "keyval"
        kind = argument.kind if handle else "int"
        if argument.direction == "out":
            outcomes.append("rec_out_%s(call, %s);" % (kind, integer(argument, i)))
        else:
            inputs.append("rec_in_%s(call, %s);" % (kind, integer(argument, i)))
    lines = ["MPI_Fint absent = 0, *const ierror = a%d ? a%d : &absent;" % (n, n),
             "struct rec_call *call = rec_enter(%s, __builtin_frame_address(0));" % name,
             "if (!call) {", "    " + call, "    return;", "}"]
    lines += inputs + ["rec_begin(call);", call, "rec_end(call, *ierror);"]
    if outcomes:
        braces = " {" if len(outcomes) > 1 else ""
        lines += ["if (*ierror == MPI_SUCCESS)" + braces] + ["    " + o for o in outcomes]
        lines += ["} else" if braces else "else", "    rec_out_unknown(call, %d);" % len(outcomes)]
    return lines + ["rec_leave(call);"]


def direct(bound):
    n = words_of(bound)
    text = ""
    for symbols in symbols_of(bound):
        lines = ["REC_EXPORT void %s(%s)" % (symbols[0],
                                             ", ".join("void *a%d" % i for i in range(n))), "{",
                 "    static entry_%d *next;" % n, "    if (!next)",
                 '        rec_fortran_find(&next, "%s", REC_FN_MPI_%s);' % (symbols[0],
                                                                           bound.name)]
        lines += ["    " + line for line in direct_body(bound)] + ["}", ""]
        text += "\n".join(lines) + aliases(symbols) + "\n"
    return text


CONVERSION = """\
/* Handles are numbers in Fortran. */
static MPI_%(c_type)s %(kind)s_f2c(MPI_Fint handle)
{
#ifdef MPI_%(name)s_f2c
    return MPI_%(name)s_f2c(handle);
#else
    static MPI_%(c_type)s (*convert)(MPI_Fint);
    if (!convert)
        rec_fortran_find(&convert, "PMPI_%(name)s_f2c", REC_FN_MPI_Init);
    return convert(handle);
#endif
}

"""


KEYVAL_CONVERSION = """\
/* MPICH has predefined keyvals for Fortran, whose values are addresses of copies: the number after
 * that of the C keyval, which is odd. */
static int keyval_f2c(MPI_Fint keyval)
{
#ifdef RFN_FLAVOUR_MPICH
    const bool predefined = (keyval & (int)0xc0000000) == (MPI_TAG_UB & (int)0xc0000000);
    return predefined && keyval % 2 == 0 ? keyval - 1 : keyval;
#else
    return keyval;
#endif
}

"""


def conversions():
    return KEYVAL_CONVERSION + "".join(CONVERSION % {"kind": kind, "name": name,
                                 "c_type": "Datatype" if kind == "type" else name}
                   for kind, name in DIRECT_HANDLES.items())


# ---- the file ----

START = """\
/* Generated by gen_fortran.py from mpi.def and mpi.h. */
#include "record/wrap/fortran.h"
#include "record/handles/params.h"

/* Deprecated functions are passed on like all others. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define ALIAS(symbol, of) \\
    REC_EXPORT extern __typeof__(of) symbol __attribute__((alias(#of)));

/* ---- the C functions under their second name ---- */

"""


def fortran_c(bound, flavour):
    c_functions = START + "\n".join(profiled(b) for b in bound)
    if flavour == "mpiabi":
        return c_functions
    counts = sorted({words_of(b) for b in bound})
    direct_ones = [b for b in bound if DIRECT.match(b.name)]
    others = [b for b in bound if not DIRECT.match(b.name)]
    return (c_functions + "\n/* ---- entries ---- */\n\n" +
            "\n".join(entry_macro(n) for n in counts) + "\n" +
            "".join(entry(b) for b in others) + "\n/* ---- direct entries ---- */\n\n" +
            conversions() + "".join(direct(b) for b in direct_ones))


def main():
    parser = argparse.ArgumentParser(description="Generates the Fortran entries of one MPI.")
    parser.add_argument("--flavour", required=True, choices=("mpiabi", "mpich", "openmpi"))
    parser.add_argument("--cc", required=True, help="compiler that finds this MPI's mpi.h")
    parser.add_argument("--def", required=True, dest="definitions", help="mpi.def")
    parser.add_argument("--out", required=True, help="folder of the generated file")
    options = parser.parse_args()
    try:
        with open(options.definitions) as file:
            functions = gen_wrappers.parse_def(file.read())
        header = gen_wrappers.parse_header(gen_wrappers.preprocess(options.flavour, options.cc))
        bound = [b for b in gen_wrappers.bind_all(functions, header.functions)
                 if b.prefix == "MPI_" and not b.function.derived]
        gen_wrappers.write_file(os.path.join(options.out, "fortran.gen.c"),
                                fortran_c(bound, options.flavour))
    except (Failure, OSError) as error:
        sys.exit("gen_fortran.py: %s" % error)


if __name__ == "__main__":
    main()
