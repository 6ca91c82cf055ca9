/* Places: sets of processors that threads are bound to (OpenMP 5.2, section 6.4).
 *
 * The table is read from OMP_PLACES or GOMP_CPU_AFFINITY when the library is loaded and is constant
 * then. It is empty when threads are not to be bound, which costs a region one comparison. */
#ifndef CST_CORE_SETTINGS_PLACE_H
#define CST_CORE_SETTINGS_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* omp_proc_bind_t */
enum cst_bind { CST_BIND_FALSE, CST_BIND_TRUE, CST_BIND_PRIMARY, CST_BIND_CLOSE, CST_BIND_SPREAD };

struct cst_place_table {
    uint32_t count;
    uint32_t words;  /* of one mask */
    uint64_t *masks; /* count masks; see platform.h for their form */
};

extern struct cst_place_table cst_places;

/* Where a member of a team is bound, and the places that its own regions may use
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

/* The calling thread runs where the process could when the places were read. */
void cst_place_unbind(void);

/* The binding that a thread would have that opens its first region now: the process's first thread
 * to the first place, as the specification demands, others to the place on which they run. */
struct cst_binding cst_place_here(void);
/* The same, and binds the calling thread. */
struct cst_binding cst_place_first(void);

/* --- for the configuration ------------------------------------------------------------------ */

/* What there is to choose from: the processors of the process, and where /sys lies. */
struct cst_place_source {
    const uint64_t *available;
    uint32_t words;
    const char *root;
};

/* Parses OMP_PLACES, and GOMP_CPU_AFFINITY, into *table; without a source only checks the form.
 * False, with libgomp's messages on stderr, when there is no table. */
bool cst_place_parse(const char *text, const struct cst_place_source *source,
                     struct cst_place_table *table);
bool cst_place_parse_processors(const char *text, const struct cst_place_source *source,
                                struct cst_place_table *table);
/* A place for each processor, those of a core side by side. */
bool cst_place_each_thread(const struct cst_place_source *source, struct cst_place_table *table);

/* Reads one of the two variables into cst_places, or only checks it. False, with a message, when
 * the text is wrong or no place is left. */
bool cst_place_read(const char *text, bool only_check);
bool cst_place_read_processors(const char *text, bool only_check);
/* OMP_PROC_BIND without a list of places: each processor is one. */
void cst_place_default(void);

/* --- masks ----------------------------------------------------------------------------------- */

static inline uint64_t *cst_place_mask(const struct cst_place_table *table, uint32_t number) {
    return table->masks + (size_t)number * table->words;
}

static inline bool cst_mask_has(const uint64_t *mask, size_t processor) {
    return mask[processor / 64] >> processor % 64 & 1;
}

/* Text such as 0-3,8 (with `lengths`, 0:4,8, as OMP_PLACES writes it); returns its length, and
 * writes at most `size` bytes, the last a zero. */
size_t cst_mask_format(const uint64_t *mask, size_t words, bool lengths, char *text, size_t size);

#endif
