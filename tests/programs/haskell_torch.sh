#!/usr/bin/env bash
# libtorch, as Debian builds it, from Haskell: through functions of C++ that take arrays of Haskell's. Each call is right and
# ends, from all kinds of threads, and there is one pool of OS threads.
# test: long
# test: timeout 1800
. "$(dirname "$0")/lib.sh"
needs libtorch-dev /usr/include/torch/csrc/api/include/torch/torch.h
rm -rf "$work"
# shellcheck source=tests/programs/haskell/project.sh
. "$here/haskell/project.sh"

build_programs torch
beside_threads torch
