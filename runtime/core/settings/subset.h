/* A part of the machine, as KMP_HW_SUBSET names it: 1s,2c@1,1t means one thread of each of the two
 * cores after the first of one socket. */
#ifndef CST_CORE_SETTINGS_SUBSET_H
#define CST_CORE_SETTINGS_SUBSET_H

#include "core/settings/place.h"

enum cst_subset_result {
    CST_SUBSET_CHOSEN,
    CST_SUBSET_MALFORMED, /* the text */
    CST_SUBSET_TOO_LARGE, /* the machine has fewer, or its files do not tell */
};

/* Chooses the processors of the source that belong to the part. `chosen` is a mask of as many
 * words. Reads files. */
enum cst_subset_result cst_subset_choose(const char *text, const struct cst_place_source *source,
                                         uint64_t *chosen);

/* Binds the calling thread to the part that the text of KMP_HW_SUBSET names, as `taskset` does, so
 * that all values derived from its mask follow. Called before the runtime counts the processors.
 * Returns false, after a warning, if the text names no part of this machine. */
bool cst_subset_read(const char *text);

#endif
