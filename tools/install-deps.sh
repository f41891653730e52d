#!/bin/sh
# Installs what deps/packages lists in the given sections and what is not there yet:
#
#     tools/install-deps.sh SECTION...
#
# Prints the command before it runs it, and asks first on a terminal (YES=1 does not ask).
# NO_INSTALL=1 only reports. Needs nothing but sh and Debian's own tools; on a system
# without them it names the packages and goes on, and the build says what it misses.
set -eu

list=$(dirname "$0")/../deps/packages
missing=

installed() {
    status=$(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) || return 1
    [ "$status" = "install ok installed" ]
}

# Reads the list; a word of $wanted per section.
packages() {
    while read -r section package _; do
        case " $* " in
        *" $section "*) echo "$package" ;;
        esac
    done <"$list"
}

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    echo "This is not a Debian system. Refrain needs what Debian calls:" $(packages "$@")
    exit 0
fi

for package in $(packages "$@"); do
    case " $missing " in
    *" $package "*) ;;
    *) installed "$package" || missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

sudo=
[ "$(id -u)" = 0 ] || sudo="sudo "
echo "Missing packages:$missing"
echo "  ${sudo}apt-get install -y --no-install-recommends$missing"
if [ "${NO_INSTALL:-0}" = 1 ]; then
    echo "NO_INSTALL=1: nothing was installed."
    exit 0
fi
if [ -n "$sudo" ] && ! command -v sudo >/dev/null 2>&1; then
    echo "Not root, and there is no sudo: please run that command as root." >&2
    exit 1
fi
if [ -t 0 ] && [ "${YES:-0}" != 1 ]; then
    printf 'Run it now? [Y/n] '
    read -r answer
    case "$answer" in
    '' | y* | Y*) ;;
    *) echo "Nothing was installed." >&2; exit 1 ;;
    esac
fi

# A fresh image has no package lists.
set -- /var/lib/apt/lists/*_Packages*
[ -e "$1" ] || ${sudo}apt-get update
if ! ${sudo}env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $missing; then
    echo "Trying once more with fresh package lists."
    ${sudo}apt-get update
    ${sudo}env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $missing
fi
