# shellcheck shell=bash
# Programs of Fortran, compiled here by flang. A test sources this file instead of lib.sh.
#
#     flang ARGS    flang with OpenMP; programs are linked with libomp 19
. "$(dirname "${BASH_SOURCE[0]}")/clang.sh"
needs flang-19 flang-new-19

# Flang 19 makes calls that older libraries lack, and Debian installs one libomp at a time: this one is unpacked.
libomp() {
    echo "$cache/libomp-19/libomp.so.5"
}

flang() {
    flang-new-19 -fopenmp -L"$cache/libomp-19" -Wl,-rpath,"$cache/libomp-19" "$@"
}

needs_libomp() {
    [ ! -e "$(libomp)" ] || return 0
    may_install || skip 'libomp 19 is not unpacked (Debian package libomp5-19)'
    (
        mkdir -p "$cache/libomp-19" "$work/package" && cd "$work/package" || exit 1
        apt-get -qq -o APT::Sandbox::User=root download libomp5-19 && dpkg-deb -x libomp5-19_*.deb . &&
            cp usr/lib/llvm-19/lib/libomp.so.5 "$cache/libomp-19" && ln -sf libomp.so.5 "$cache/libomp-19/libomp.so"
    ) >"$work/unpacked" 2>&1 && return
    fail "libomp5-19 cannot be unpacked: $(tail -n 1 "$work/unpacked")"
    exit 1
}
needs_libomp
