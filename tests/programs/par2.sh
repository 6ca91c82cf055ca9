#!/usr/bin/env bash
# par2: recovery files are made, checked and used; every byte must agree.
. "$(dirname "$0")/lib.sh"
needs par2 par2

# 6 MB that look random and are always the same.
files() {
    local i
    for i in 1 2 3; do
        openssl enc -aes-128-ctr -nosalt -K 0 -iv "$i" -in /dev/zero 2>/dev/null |
            head -c 2000000 >"$input/part$i"
    done
}

recovery() {
    # Files are read by several threads: the order of the messages about them is free.
    cp "$input"/part* .
    on par2 create -q -r50 -s20000 set.par2 part1 part2 part3 | sort >created || return 1
    on par2 verify -q set.par2 | sort >verified || return 1
    # Damage: one file gone, one cut, one overwritten in the middle.
    rm part1
    truncate -s 1900000 part2
    dd if=/dev/zero of=part3 bs=1000 seek=700 count=40 conv=notrunc status=none
    on par2 verify -q set.par2 | sort >damaged
    on par2 repair -q set.par2 | sort >repaired || return 1
    cmp part1 "$input/part1" && cmp part2 "$input/part2" && cmp part3 "$input/part3"
}

needs openssl openssl
files
compare 'create, verify, damage, repair' recovery
finish
