/* Worksharing constructs of a region, found by their position in the program.
 *
 * All members of a team meet the same constructs in the same order, so each counts them, and the
 * count names the construct. Construct s lives in slot s mod CST_SHARE_RING. A slot may be used
 * again once every member has left the construct that used it before. After a barrier, this holds
 * for all earlier constructs. A thread that runs ahead through `nowait` constructs reads the count
 * of each member. If a slot is still in use, the thread adds a slot beside the ring, so no thread
 * ever waits for a slot. The compare-and-swap that moves the slot's `claim` to the construct
 * decides once between the slot and one beside it. */
#ifndef CST_CORE_STATE_SHARE_H
#define CST_CORE_STATE_SHARE_H

#include "platform/atomic.h"

#include <stddef.h>

struct cst_thread;
struct cst_team;

enum { CST_SHARE_RING = 16 };

/* Ordered loop with cross-iteration dependences (doacross); see ordered.c. */
struct cst_doacross;

/* Memory that a slot keeps for its next construct. */
struct cst_room {
    void *start;
    size_t size;
};

struct cst_share {
    /* Twice the tag of the newest construct that came to the slot, plus one if that construct was
     * sent to a slot beside the ring. Only grows. */
    CST_LINE_ALIGNED _Atomic uint64_t claim;
    _Atomic uint64_t ready; /* tag of the construct that the fields below are set up for */
    /* Next iteration (dynamic, guided) or section. It shares a line with the fields that its use
     * needs: a member that has just changed it has these fields in its cache too. */
    _Atomic uint64_t next;
    uint64_t trip;             /* iterations */
    uint64_t chunk;            /* iterations a chunk */
    uint64_t start, increment; /* of the user's loop variable, modulo 2^64 */
    uint8_t schedule;          /* enum cst_schedule_kind */
    uint8_t batching;          /* enum cst_batching: do members claim several chunks at once? */
    bool counts_on;            /* dynamic: `next` may count past the end without wrapping */
    bool ordered;
    CST_LINE_ALIGNED _Atomic uint64_t turn; /* ordered: first iteration of the current turn */
    _Atomic uint32_t turn_waiters;          /* members that wait for their turn */
    uint64_t end;                           /* of the user's loop variable */
    void *copy;                             /* copyprivate: the executing member's data */
    struct cst_room memory; /* shared by the members, for scans and conditional lastprivate */
    struct cst_room lines;  /* of a doacross loop */
    struct cst_doacross *doacross; /* NULL: no waiting is needed */
    struct cst_room copies;        /* addresses of the copies of its reductions (reduce.h) */
    struct cst_share *beside;      /* next slot outside of the ring; under the team's share_lock */
};

/* Slots beside the ring, in a hash table by tag. */
struct cst_beside {
    struct cst_share **bucket; /* lists linked by `beside` */
    uint32_t buckets, count;   /* buckets: 0, or a power of two */
};

#endif
