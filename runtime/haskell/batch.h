/* Foreign calls that were written down, to be made all at once.
 *
 * A batch is a row of records in memory of Haskell's. A record is a few words: what is called, how,
 * the result, and the arguments, those in general registers before those in floating-point ones. */
#ifndef CST_HASKELL_BATCH_H
#define CST_HASKELL_BATCH_H

#include <stdint.h>

enum {
    CST_BATCH_INTEGERS = 6, /* arguments that go into general registers, at most */
    CST_BATCH_FLOATS = 8    /* and into floating-point registers */
};

/* src/Capstan/Batch/Internal.hs writes it, by these offsets in words: 0, 1, 2, 3. */
union cst_batch_word {
    uint64_t integer; /* or a pointer; what is shorter is extended as its type says */
    double number;    /* a float is in the lower half */
};

/* src/Capstan/Batch/Internal.hs writes it. */
struct cst_batch_record {
    uint64_t shape; /* see batch.c */
    void (*function)(void);
    union cst_batch_word result;
    union cst_batch_word argument[];
};

/* Visible: GHC inlines calls of these into programs, which then need them by name. */
#pragma GCC visibility push(default)
/* Makes the calls from `record` up to `end`, in order. */
void cst_batch_run(struct cst_batch_record *record, const struct cst_batch_record *end);
#pragma GCC visibility pop

#endif
