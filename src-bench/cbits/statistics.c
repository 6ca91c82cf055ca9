/* statistics.c: GHC's own counting of collections, switched on while the program runs.
 *
 * The flag is read at the end of each collection and by GHC.Stats; nothing else depends on it
 * having been set at the start. So a program need not be linked with -with-rtsopts=-T.
 */
#include "counters.h"

#include <Rts.h>

void cst_bench_collect_statistics(void) {
    if (RtsFlags.GcFlags.giveStats == NO_GC_STATS) RtsFlags.GcFlags.giveStats = COLLECT_GC_STATS;
}
