/* Places: sets of processors that threads are bound to (OpenMP 5.2, section 6.4).
 *
 * The table is read from OMP_PLACES or GOMP_CPU_AFFINITY when the library is loaded, and is
 * constant from then on. It is empty if threads are not bound; that costs a region one
 * comparison. */
#ifndef CST_CORE_SETTINGS_PLACE_H
#define CST_CORE_SETTINGS_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "platform/hidden.h"

/* omp_proc_bind_t */
enum cst_bind { CST_BIND_FALSE, CST_BIND_TRUE, CST_BIND_PRIMARY, CST_BIND_CLOSE, CST_BIND_SPREAD };

struct cst_place_table {
    uint32_t count;
    uint32_t words;  /* of one mask */
    uint64_t *masks; /* count masks; see platform.h for their form */
};

extern CST_HIDDEN struct cst_place_table cst_places;

/* The place to which a member of a team is bound, and the places that its own regions may use
 * (place-partition-var). All zero: not bound. */
struct cst_binding {
    uint32_t place;         /* number of the place, plus 1 */
    uint32_t first, length; /* the partition */
};

/* --- for regions --------------------------------------------------------------------------- */

/* The binding of member `number` of a team of `size`, whose master has `master`. Pure. */
struct cst_binding cst_place_assign(const struct cst_binding *master, enum cst_bind bind,
                                    uint32_t size, uint32_t number);

/* Binds the calling thread. Does nothing for 0. */
void cst_place_bind(uint32_t place);

/* Lets the calling thread run on all processors that the process had when the places were read. */
void cst_place_unbind(void);

/* The binding of a thread that opens its first region now. The process's first thread has the first
 * place, as the specification demands. Any other thread has the place on which it runs. */
struct cst_binding cst_place_here(void);
/* As cst_place_here, and binds the calling thread. */
struct cst_binding cst_place_first(void);

/* --- for the configuration ------------------------------------------------------------------ */

/* The machine: the processors of the process, and the folder in which /sys lies. */
struct cst_place_source {
    const uint64_t *available;
    uint32_t words;
    const char *root;
};

/* Parses OMP_PLACES, or GOMP_CPU_AFFINITY, into *table. Without a source it only checks the form.
 * False, with libgomp's messages on stderr, when there is no table. */
bool cst_place_parse(const char *text, const struct cst_place_source *source,
                     struct cst_place_table *table);
bool cst_place_parse_processors(const char *text, const struct cst_place_source *source,
                                struct cst_place_table *table);
/* Makes a place for each processor; the processors of a core are neighbours. */
bool cst_place_each_thread(const struct cst_place_source *source, struct cst_place_table *table);

/* Reads one of the two variables into cst_places, or only checks it. False, with a message, when
 * the text is wrong or no place is left. */
bool cst_place_read(const char *text, bool only_check);
bool cst_place_read_processors(const char *text, bool only_check);
/* For OMP_PROC_BIND without a list of places: each processor is a place. */
void cst_place_default(void);

/* --- masks ----------------------------------------------------------------------------------- */

static inline uint64_t *cst_place_mask(const struct cst_place_table *table, uint32_t number) {
    return table->masks + (size_t)number * table->words;
}

static inline bool cst_mask_has(const uint64_t *mask, size_t processor) {
    return mask[processor / 64] >> processor % 64 & 1;
}

/* Text such as 0-3,8 (with `lengths`, 0:4,8, as OMP_PLACES writes it); returns its length. Writes
 * at most `size` bytes, of which the last is zero. */
size_t cst_mask_format(const uint64_t *mask, size_t words, bool lengths, char *text, size_t size);

#endif
