/* The books of the processes that share processors: which of them has which processor. They lie in
 * memory that all of them write, any of which may be killed at any moment.
 *
 * A processor's word names the process that has it; 0: nobody. That is all there is to a grant, so
 * a process that is killed leaves no step half done: its words name a process that does not live,
 * and whoever wants one takes it over. README.md has the argument. */
#ifndef CST_CORE_BUDGET_LEDGER_H
#define CST_CORE_BUDGET_LEDGER_H

#include "platform/atomic.h"
#include "platform/platform.h"

#include <stdbool.h>
#include <stdint.h>

enum { CST_LEDGER_MEMBERS = 256, CST_LEDGER_PROCESSORS = 64 * CST_CPU_MASK_WORDS };

/* A process that takes part. All but `process` are hints for the others, written by the process. */
struct cst_ledger_member {
    CST_LINE_ALIGNED _Atomic uint64_t process; /* 0: nobody */
    _Atomic uint64_t until;                    /* it counts until then, by the coarse clock, */
    _Atomic uint64_t processors;               /* on these: its mask's words, or'ed */
    _Atomic uint32_t regions;                  /* and while it has regions under way */
    _Atomic uint32_t wants;                    /* threads */
};

struct cst_ledger {
    _Atomic uint64_t layout; /* CST_LEDGER_LAYOUT, or 0: nobody has come yet */
    struct cst_ledger_member members[CST_LEDGER_MEMBERS];
    CST_LINE_ALIGNED _Atomic uint64_t owners[CST_LEDGER_PROCESSORS];
};

enum { CST_LEDGER_LAYOUT = 0x63737401 };

/* A place for the process, that of one which has ended if there is no other; NULL: there is none.
 * Words that name it are from before it executed another program, and are freed. */
struct cst_ledger_member *cst_ledger_join(struct cst_ledger *ledger, uint64_t process);
void cst_ledger_leave(struct cst_ledger *ledger, struct cst_ledger_member *member);

/* Takes up to `count` processors of the mask, beginning at the `hint`-th, and returns how many. If
 * `look`, also those of processes that have ended, which takes some ten microseconds for each owner
 * that is asked for. Lock-free. */
uint32_t cst_ledger_take(struct cst_ledger *ledger, uint64_t process, const uint64_t *mask,
                         uint32_t hint, uint32_t count, bool look);
/* Gives back so many of those that the process has. */
void cst_ledger_return(struct cst_ledger *ledger, uint64_t process, const uint64_t *mask,
                       uint32_t hint, uint32_t count);

/* The part of `total` processors that the member may have: all that count share fairly. At least 1.
 * Frees the places of those that have ended. */
uint32_t cst_ledger_part(struct cst_ledger *ledger, const struct cst_ledger_member *member,
                         uint32_t total, uint64_t now);

#endif
