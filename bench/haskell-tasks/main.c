/* The entry of the benchmark of Haskell tasks: a program whose collections are counted one by one.
 *
 * GHC's statistics have a total and a maximum; a percentile needs each pause. */
#include <stdint.h>
#include <stdlib.h>

#include <Rts.h>

extern StgClosure ZCMain_main_closure;

enum { PAUSES = 1 << 20 };

/* Written by the thread that collects, while all others are stopped; read while none collects. */
static uint64_t pauses[PAUSES];
static uint64_t count;

/* A pause lasts from the request to stop to the end of the collection. The final synchronisation of
 * a non-moving collection is a separate pause, which GHC reports with the next collection. */
static void collected(const struct GCDetails_ *details) {
    static uint64_t last_sync;
    if (details->nonmoving_gc_sync_elapsed_ns != last_sync && count < PAUSES) {
        last_sync = details->nonmoving_gc_sync_elapsed_ns;
        pauses[count++] = (uint64_t)last_sync;
    }
    if (count < PAUSES)
        pauses[count++] = (uint64_t)(details->sync_elapsed_ns + details->elapsed_ns);
}

void bench_pauses_forget(void) {
    count = 0;
}

uint64_t bench_pauses(void) {
    return count;
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Returns whether the program was started with the non-moving collector. */
HsInt bench_nonmoving(void) {
    return RtsFlags.GcFlags.useNonmoving;
}

/* Returns the pause, in nanoseconds, that `per_mille` of a thousand pauses do not exceed. */
uint64_t bench_pause(HsInt per_mille) {
    if (count == 0) return 0;
    qsort(pauses, count, sizeof pauses[0], ascending);
    uint64_t at = count * (uint64_t)per_mille / 1000;
    return pauses[at < count ? at : count - 1];
}

int main(int argc, char *argv[]) {
    RtsConfig config = defaultRtsConfig;
    config.rts_hs_main = true;
    config.rts_opts_enabled = RtsOptsAll;
    config.gcDoneHook = collected;
    return hs_main(argc, argv, &ZCMain_main_closure, config);
}
