# shellcheck shell=bash
# Programs compiled here by clang, from the sources that Debian's archive has of their makers: the calls of LLVM's
# interface. A test sources this file instead of lib.sh. The programs are linked with LLVM's libomp, so `compare` has
# that one as its oracle where other tests have libgomp.
#
#     compiled PACKAGE FILE... STEPS    STEPS is a function that compiles the source of PACKAGE, in a copy of
#                                       which it is called, and leaves each FILE in $built
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
needs clang clang
# shellcheck disable=SC2034 # used by lib.sh
oracle=libomp
# shellcheck disable=SC2034 # used by the tests
built=$cache/$test_name
mkdir -p "$built"

compiled() {
    local package=$1 steps=${*: -1} file missing=
    for file in "${@:2:$#-2}"; do
        [ -e "$built/$file" ] || missing=$file
    done
    [ -n "$missing" ] || return 0
    source_of "$package"
    (cd "$unpacked" && "$steps") >"$work/compiled" 2>&1 && [ -e "$built/$missing" ] && return 0
    fail "$package is not compiled by clang: $(tail -n 5 "$work/compiled")"
    exit 1
}

# source_of PACKAGE: its makers' source, unpacked in $unpacked for this test alone.
source_of() {
    local lists=$work/sources options mirror
    may_install || skip "$1 is not compiled yet"
    mkdir -p "$lists/lists/partial" "$lists/unpacked"
    mirror=$("$source_root/tools/debian-mirror" 2>"$work/mirror") || skip "$(cat "$work/mirror")"
    # shellcheck disable=SC1091 # of the machine
    echo "deb-src $mirror $(. /etc/os-release && echo "$VERSION_CODENAME") main" \
        >"$lists/sources.list"
    (
        cd "$lists" || exit 1
        options=(-qq -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null
            -o Dir::State::lists="$PWD/lists" -o APT::Sandbox::User=root)
        apt-get "${options[@]}" update && apt-get "${options[@]}" source --tar-only --only-source "$1" &&
            tar -C unpacked -xf "$1"_*.orig.tar.*z*
    ) >"$work/source" 2>&1 || skip "the source of $1 cannot be had: $(tail -n 1 "$work/source")"
    # Most archives hold one folder, some hold the files themselves.
    unpacked=$(find "$lists/unpacked" -mindepth 1 -maxdepth 1)
    [ -d "$unpacked" ] || unpacked=$lists/unpacked
}
