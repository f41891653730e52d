#!/bin/sh
# Compiles examples/halo.c, records it on 8 ranks and prints the report:
#
#     tools/demo.sh BUILD
#
# Open MPI is preferred: with more ranks than cores its ranks can be told to give way to each other,
# while Debian's MPICH polls without pause.
set -eu

build=$1
ranks=${RANKS:-8}
work=$build/demo

have() { command -v "$1" >/dev/null 2>&1; }
first() {
    for name in "$@"; do
        if have "$name"; then
            echo "$name"
            return
        fi
    done
}

mpicc=$(first mpicc.openmpi mpicc.mpich mpicc)
if [ -z "$mpicc" ]; then
    echo "demo: no MPI compiler (mpicc) was found" >&2
    exit 1
fi
case $mpicc in
mpicc) mpirun=$(first mpirun mpiexec) ;;
*) mpirun=$(first "mpirun.${mpicc#mpicc.}" "mpiexec.${mpicc#mpicc.}" mpirun) ;;
esac
if [ -z "$mpirun" ]; then
    echo "demo: no launcher (mpirun) for $mpicc was found; install openmpi-bin" >&2
    exit 1
fi

launch="$mpirun -n $ranks"
if "$mpirun" --version 2>/dev/null | grep -q 'Open MPI\|OpenRTE'; then
    launch="$launch --oversubscribe"
    [ "$(id -u)" != 0 ] || launch="$launch --allow-run-as-root"
elif [ -z "${RANKS:-}" ]; then
    cores=$(getconf _NPROCESSORS_ONLN)
    [ "$cores" -ge "$ranks" ] || ranks=$cores
    launch="$mpirun -n $ranks"
fi

say() { printf '\n$ %s\n' "$*"; }

mkdir -p "$work"
# GCC misjudges MPICH's MPI_STATUSES_IGNORE.
quiet=
[ "$mpicc" = mpicc.openmpi ] || quiet=-Wno-stringop-overflow
say "$mpicc -O2 -g $quiet -o $work/halo examples/halo.c -lm"
"$mpicc" -O2 -g $quiet -o "$work/halo" examples/halo.c -lm

archive=$work/halo.rfn
say "$launch $build/refrain record --force -o $archive $work/halo 60 1500"
$launch "$build/refrain" record --force -o "$archive" "$work/halo" 60 1500

say "$build/refrain report $archive"
"$build/refrain" report "$archive"
