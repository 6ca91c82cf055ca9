/* Recorded foreign calls, which C makes all at once.
 *
 * A batch is a sequence of records in Haskell's memory. A record is a few words: the call's shape,
 * the function, the result, and the arguments, those in general registers first and those in
 * floating-point registers last. */
#ifndef CST_HASKELL_BATCH_H
#define CST_HASKELL_BATCH_H

#include <stdint.h>

enum {
    CST_BATCH_INTEGERS = 6, /* arguments that go into general registers, at most */
    CST_BATCH_FLOATS = 8    /* and into floating-point registers */
};

/* src/Capstan/Batch/Internal.hs writes such words. */
union cst_batch_word {
    uint64_t integer; /* or a pointer; shorter types are extended by their type's rule */
    double number;    /* a float is in the lower half */
};

/* src/Capstan/Batch/Internal.hs writes it, by the fields' offsets in words: 0, 1, 2, 3. */
struct cst_batch_record {
    uint64_t shape; /* see batch.c */
    void (*function)(void);
    union cst_batch_word result;
    union cst_batch_word argument[];
};

/* This function is visible: GHC inlines its calls into programs, which then look it up by name. */
#pragma GCC visibility push(default)
/* Makes the calls from `record` up to `end`, in order. */
void cst_batch_run(struct cst_batch_record *record, const struct cst_batch_record *end);
#pragma GCC visibility pop

#endif
