/* depend.h: the cases of depend.c, which tasks.c runs as part of its suite. */
#ifndef CAPSTAN_BENCH_DEPEND_H
#define CAPSTAN_BENCH_DEPEND_H

#include "bench.h"

void bench_dependences(const struct bench *b);

#endif
