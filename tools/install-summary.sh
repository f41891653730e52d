#!/bin/sh
# Says what `make install` has put where, and what to do next:
#
#     [DESTDIR=DIR] tools/install-summary.sh VERSION PREFIX PYTHONDIR FLAVOURS
set -eu

version=$1 prefix=$2 pythondir=$3 flavours=$4

echo
echo "Installed Refrain $version in $prefix${DESTDIR:+ (below $DESTDIR)}:"
line() {
    printf '  %-36s %s\n' "$1" "$2"
}
line bin/refrain "the tool: refrain help, man refrain"
line lib/refrain "recorders and programs for:${flavours:+ $(echo $flavours)}"
line "lib, include/refrain" "libraries for C and Fortran: pkg-config refrain, refrain-region"
line "$(realpath -m --relative-base="$prefix" "$pythondir")/refrain" "the module for Python"
line share "man pages, completion in bash, zsh and fish"

echo "Next:"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "  export PATH=$prefix/bin:\$PATH" ;;
esac
# Where Debian's python3 looks by itself.
[ "$pythondir" = /usr/lib/python3/dist-packages ] ||
    echo "  export PYTHONPATH=$pythondir        for: import refrain"
echo "  mpirun -n 4 refrain record ./app"
