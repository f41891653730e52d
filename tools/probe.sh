#!/bin/sh
# Finds compilers, libraries and MPIs and writes what it found as make variables:
#
#     tools/probe.sh CC OUTPUT
#
# The Makefile runs it when OUTPUT is missing or older than the system's package database, so that
# an ordinary `make` starts no process to look for things. A needed thing that is missing is one
# line on standard error with the package that brings it, and the exit status is 1.
# MPICC_MPICH and MPICC_OPENMPI name compiler wrappers that are not in Debian's places.
set -eu

cc=$1
output=$2
needed=
summary=

have() { command -v "$1" >/dev/null 2>&1; }

need() { needed="$needed $1"; }

note() { # name, found or not, package
    if [ "$2" = yes ]; then
        summary="$summary  $1: found|"
    else
        summary="$summary  $1: not found ($3)|"
    fi
}

# Prints the path of a header, found with the given flags, or nothing.
header() {
    h=$1
    shift
    echo "#include <$h>" | $cc -E -x c "$@" - 2>/dev/null |
        sed -n "s|^# 1 \"\\(/.*/$h\\)\".*|\\1|p" | head -n 1
}

have "$cc" || need gcc
if ! have pkg-config; then
    need pkg-config
fi
have python3 || need python3

# Without pkg-config at least the headers are looked for, so that one line names all packages.
library() { # package of pkg-config, header, Debian package
    if have pkg-config; then
        pkg-config --exists "$1" || need "$3"
    elif have "$cc"; then
        [ -n "$(header "$2")" ] || need "$3"
    else
        need "$3"
    fi
}
library libzstd zstd.h libzstd-dev
library libunwind libunwind.h libunwind-dev
library libdw elfutils/libdw.h libdw-dev
library libelf gelf.h libelf-dev
library jansson jansson.h libjansson-dev
library libxxhash xxhash.h libxxhash-dev

# Include directories that an MPI's compiler wrapper adds, as -isystem options.
mpi_includes() {
    { "$1" --showme:compile 2>/dev/null || "$1" -show 2>/dev/null; } | tr ' ' '\n' |
        sed -n 's/^-I//p' | while read -r dir; do
        [ "$dir" = /usr/include ] || printf -- '-isystem %s ' "$dir"
    done
}

# Of the wrappers named, the first whose mpi.h defines the macro: a plain mpicc may be anybody's.
mpi_compiler() {
    macro=$1
    shift
    for wrapper in "$@"; do
        if [ -n "$wrapper" ] && have "$wrapper" &&
            printf '#include <mpi.h>\n#ifndef %s\n#error other\n#endif\n' "$macro" |
            $cc -E -x c $(mpi_includes "$wrapper") - >/dev/null 2>&1; then
            echo "$wrapper"
            return
        fi
    done
}

if have "$cc"; then
    mpich=$(mpi_compiler MPICH_NUMVERSION "${MPICC_MPICH:-}" mpicc.mpich mpicc)
    openmpi=$(mpi_compiler OMPI_MAJOR_VERSION "${MPICC_OPENMPI:-}" mpicc.openmpi mpicc)
    smpi=$(have smpicc && echo smpicc || true)
    [ -n "$mpich$openmpi" ] || need libopenmpi-dev
fi

if [ -n "$needed" ]; then
    echo "refrain: missing packages, install them with: apt-get install$needed" >&2
    exit 1
fi

flavours=
mpi_lines=
flavour() { # name, wrapper, text, package
    if [ -n "$2" ]; then
        flavours="$flavours $1"
        includes=$(mpi_includes "$2")
        mpi_lines="$mpi_lines
MPICC_$1 := $2
MPI_INCLUDES_$1 := $includes
MPI_H_$1 := $(header mpi.h $includes)"
        note "$3" yes "$4"
    else
        note "$3" no "$4"
    fi
}
flavour mpich "$mpich" "recorder for MPICH" libmpich-dev
flavour openmpi "$openmpi" "recorder for Open MPI" libopenmpi-dev
flavour smpi "$smpi" "recorder for SMPI" libsimgrid-dev

# The header of the standard ABI comes with Refrain. Programs that call MPI need a library.
abi_includes="-Isrc -Isrc/record/abi"
mpi_lines="$mpi_lines
MPICC_mpiabi := $cc $abi_includes
MPI_INCLUDES_mpiabi := $abi_includes
MPI_H_mpiabi := src/record/abi/mpi.h src/record/abi/counted.h"
note "recorder for the standard ABI of MPI" yes ""
if echo 'int MPI_Init(void *, void *); int main(void) { return MPI_Init(0, 0); }' |
    $cc -w -x c -o /dev/null - -lmpi_abi 2>/dev/null; then
    mpi_lines="$mpi_lines
MPI_LIBS_mpiabi := -lmpi_abi"
fi

option() { # variable, text, package, then the test
    variable=$1 text=$2 package=$3
    shift 3
    if "$@" >/dev/null 2>&1; then
        mpi_lines="$mpi_lines
$variable := yes"
        note "$text" yes "$package"
    else
        mpi_lines="$mpi_lines
$variable :="
        note "$text" no "$package"
    fi
}
option HAVE_CMOCKA "unit tests (cmocka)" libcmocka-dev pkg-config --exists cmocka
has_header() { [ -n "$(header "$1")" ]; }
option HAVE_PAPI "counters of PAPI" libpapi-dev has_header papi.h
simgrid() { have "${CXX:-g++}" && pkg-config --exists simgrid; }
option HAVE_SIMGRID "predictions on SimGrid" "libsimgrid-dev g++" simgrid
option HAVE_ZLIB "time-independent text in gzip" zlib1g-dev has_header zlib.h
option HAVE_OTF2 "traces of OTF2" libopen-trace-format2-dev pkg-config --exists otf2
# The page for browsers: what compiles the reader for it, and bundles its sources.
page() {
    have clang && have wasm-ld && have esbuild && has_header zlib.h &&
        echo 'int main(void) { return 0; }' | clang --target=wasm32-wasi --sysroot=/usr \
            -isystem /usr/include/wasm32-wasi -x c -o /dev/null -
}
page_packages="clang lld wasi-libc libclang-rt-dev-wasm32 esbuild zlib1g-dev"
option HAVE_PAGE "the page of refrain view" "$page_packages" page
option HAVE_EXPAT "platforms to predict for (expat)" libexpat1-dev has_header expat.h

mkdir -p "$(dirname "$output")"
cat >"$output.tmp" <<END
# Written by tools/probe.sh; delete it to look again.
FLAVOURS := $flavours
CORE_INCLUDES := $(pkg-config --cflags libzstd libunwind libdw libelf jansson libxxhash)
CORE_LIBS := $(pkg-config --libs libzstd libdw libelf)
JSON_LIBS := $(pkg-config --libs jansson)
PAGE_PACKAGES := $page_packages
XXHASH_H := $(header xxhash.h)
UNWIND_LIBS := $(pkg-config --libs libunwind)
OTF2_INCLUDES := $(pkg-config --cflags otf2 2>/dev/null || true)
OTF2_LIBS := $(pkg-config --libs otf2 2>/dev/null || true)$mpi_lines
SUMMARY := $summary
END
mv "$output.tmp" "$output"
