#!/bin/sh
# What make installs: the packages that are missing, by the names that the release has for them, without those
# that it does not have; and nothing, without any rights, where all are there. Debian's programs are stand-ins.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-dependencies.XXXXXX")
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*"
    exit 1
}

stand_in() {
    cat >"$work/$1"
    chmod +x "$work/$1"
}

cp "$root/tools/install-dependencies" "$work/"
cat >"$work/dependencies.txt" <<'END'
# package, group, why

make       build  reads
there-1    build  compiles
missing-1  build  is missing
absent-1   build  is not in the release
other-1    check  is of another group
END
release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
printf '%s\n' "$release there-1=there-2 missing-1=missing-2" 'another missing-1=missing-3 other-1=other-3' >"$work/releases.txt"
stand_in dpkg-query <<'END'
echo 'make installed'
echo 'there-2 installed'
echo 'missing-2 not-installed'
[ ! -e "${0%/*}/all" ] || printf '%s installed\n' missing-2 absent-1
exit 1
END
stand_in apt-cache <<'END'
printf '%s\n' make there-2 missing-2 other-1
END
stand_in apt-get <<'END'
echo "$*" >>"${0%/*}/calls"
END
stand_in sudo <<'END'
exec "$@"
END
install_dependencies() {
    rm -f "$work/calls"
    PATH=$work:$PATH sh "$work/install-dependencies" "$@"
}

[ "$(install_dependencies --list another build check | tr '\n' ' ')" = 'make there-1 missing-3 absent-1 other-3 ' ] ||
    fail "in another release: $(install_dependencies --list another build check)"
if [ -n "$release" ]; then
    said=$(install_dependencies build)
    case $said in
    *'Not in this release of Debian: absent-1'*'Installing from Debian: missing-2'*) ;;
    *) fail "it said: $said" ;;
    esac
    case $(grep install "$work/calls") in
    *' install -y --no-install-recommends missing-2') ;;
    *) fail "it called: $(cat "$work/calls")" ;;
    esac
    touch "$work/all"
    install_dependencies build
    [ ! -e "$work/calls" ] || fail "where all are there it called: $(cat "$work/calls")"
fi
