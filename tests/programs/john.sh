#!/usr/bin/env bash
# John the Ripper tests itself: known passwords, hashed by all threads.
# test: long
. "$(dirname "$0")/lib.sh"
needs john /usr/sbin/john

# Speeds are dropped.
self_test() {
    on /usr/sbin/john --test=1 --format="$1" | grep -o -E '^Benchmarking: .*(DONE|FAILED).*'
}

# John makes this folder, wherever HOME points to.
home=$(getent passwd "$(id -u)" | cut -d : -f 6)
[ -e "$home/.john" ] || trap 'rmdir "$home/.john" 2>/dev/null; remove_work' EXIT

for format in descrypt bsdicrypt md5crypt bcrypt; do
    compare "$format" self_test $format
done
finish
