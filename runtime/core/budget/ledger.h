/* The books of the processes that share processors: they tell which process has which processor.
 * They lie in memory that all these processes write. Any of them may be killed at any moment.
 *
 * A processor's word names the process that has it; 0: no process. The word is the whole grant, so
 * a killed process leaves no step half done. Its words name a process that does not live, and any
 * process takes them over. README.md has the argument. */
#ifndef CST_CORE_BUDGET_LEDGER_H
#define CST_CORE_BUDGET_LEDGER_H

#include "platform/atomic.h"
#include "platform/platform.h"

#include <stdbool.h>
#include <stdint.h>

enum { CST_LEDGER_MEMBERS = 256, CST_LEDGER_PROCESSORS = 64 * CST_CPU_MASK_WORDS };

/* A process that takes part. All fields but `process` are hints for other processes, written by
 * this one. */
struct cst_ledger_member {
    CST_LINE_ALIGNED _Atomic uint64_t process; /* 0: nobody */
    _Atomic uint64_t until;                    /* the process counts until then (coarse clock), */
    _Atomic uint64_t processors;               /* on these processors: its mask's words, or'ed, */
    _Atomic uint32_t regions;                  /* and while it has regions under way: their
                                                * number */
    _Atomic uint32_t wants;                    /* threads */
};

struct cst_ledger {
    _Atomic uint64_t layout; /* CST_LEDGER_LAYOUT; 0: no process has joined yet */
    struct cst_ledger_member members[CST_LEDGER_MEMBERS];
    CST_LINE_ALIGNED _Atomic uint64_t owners[CST_LEDGER_PROCESSORS];
};

enum { CST_LEDGER_LAYOUT = 0x63737401 };

/* A place for the process. If no place is free, the process gets the place of a process that has
 * ended; NULL: there is none. Words that already name the process are freed: it wrote them before
 * it executed another program. */
struct cst_ledger_member *cst_ledger_join(struct cst_ledger *ledger, uint64_t process);
void cst_ledger_leave(struct cst_ledger *ledger, struct cst_ledger_member *member);

/* Takes up to `count` processors of the mask, beginning at processor `hint`, and returns the number
 * taken. If `look`, it also takes processors of ended processes. That costs some ten microseconds
 * for each owner that is looked up. Lock-free. */
uint32_t cst_ledger_take(struct cst_ledger *ledger, uint64_t process, const uint64_t *mask,
                         uint32_t hint, uint32_t count, bool look);
/* Gives back `count` of the processors that the process has. */
void cst_ledger_return(struct cst_ledger *ledger, uint64_t process, const uint64_t *mask,
                       uint32_t hint, uint32_t count);

/* The part of `total` processors that the member may have: all members that count share fairly
 * (fair.h). At least 1. Frees the places of processes that have ended. */
uint32_t cst_ledger_part(struct cst_ledger *ledger, const struct cst_ledger_member *member,
                         uint32_t total, uint64_t now);

#endif
