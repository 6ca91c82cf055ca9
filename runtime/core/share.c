/* Slots of worksharing constructs; see share.h. */
#include "core/share.h"

#include "core/runtime.h"
#include "core/thread.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

/* Has every member left the construct that used slot `construct` before? */
static bool slot_is_free(struct cst_seat *seat, uint64_t construct) {
    struct cst_team *team = seat->team;
    uint64_t least = seat->construct;
    if (construct < seat->left_by_all + CST_SHARE_RING) return true;
    for (uint32_t i = 0; i < team->size; i++) {
        /* Acquire pairs with the release in cst_share_leave: it has stopped reading the slot. A
         * member that has not begun the region yet still shows an older count. */
        uint64_t left = cst_load_acquire(&cst_team_seat(team, i)->construct_left);
        if (left < least) least = left;
    }
    seat->left_by_all = least;
    return construct < least + CST_SHARE_RING;
}

/* --- beside the ring: a hash table by tag, all under the team's share_lock ------------------- */

enum { FIRST_BUCKETS = 64 };

static struct cst_share **bucket_of(struct cst_beside *table, uint64_t tag) {
    return &table->bucket[tag & (table->buckets - 1)];
}

static struct cst_share *find_beside(struct cst_beside *table, uint64_t tag) {
    if (table->count == 0) return NULL;
    struct cst_share *share = *bucket_of(table, tag);
    while (share && cst_load_relaxed(&share->claim) != 2 * tag) share = share->beside;
    return share;
}

static void grow(struct cst_beside *table) {
    struct cst_beside old = *table;
    table->buckets = old.buckets ? 2 * old.buckets : FIRST_BUCKETS;
    table->bucket = calloc(table->buckets, sizeof *table->bucket);
    if (!table->bucket) cst_runtime_out_of_memory();
    for (uint32_t i = 0; i < old.buckets; i++)
        for (struct cst_share *share = old.bucket[i], *next; share; share = next) {
            struct cst_share **to = bucket_of(table, cst_load_relaxed(&share->claim) / 2);
            next = share->beside;
            share->beside = *to;
            *to = share;
        }
    free(old.bucket);
}

/* A slot in the tag's bucket whose construct all members have left, or a new one. */
static struct cst_share *make_beside(struct cst_seat *seat, uint64_t tag) {
    struct cst_beside *table = &seat->team->beside;
    if (table->count == table->buckets) grow(table);
    struct cst_share **bucket = bucket_of(table, tag), *share = *bucket;
    while (share && cst_load_relaxed(&share->claim) > 2 * seat->left_by_all) share = share->beside;
    if (!share) {
        share = aligned_alloc(CST_CACHE_LINE, sizeof *share);
        if (!share) cst_runtime_out_of_memory();
        memset(share, 0, sizeof *share);
        share->beside = *bucket;
        *bucket = share;
        table->count++;
    }
    cst_store_relaxed(&share->claim, 2 * tag);
    return share;
}

/* The ring's slot was found in use, or has gone on to a later construct. True: this member is the
 * first. NULL in *found: look again. */
static bool enter_beside(struct cst_seat *seat, struct cst_share *slot, uint64_t tag,
                         struct cst_share **found) {
    struct cst_team *team = seat->team;
    bool first = false;
    cst_lock_acquire(&team->share_lock);
    uint64_t claim = cst_load_relaxed(&slot->claim);
    *found = find_beside(&team->beside, tag);
    if (!*found && claim / 2 > tag) {
        *found = slot; /* it was this one's before */
    } else if (!*found && claim / 2 < tag && cst_cas_acq_rel(&slot->claim, &claim, 2 * tag + 1)) {
        *found = make_beside(seat, tag);
        first = true;
    }
    cst_lock_release(&team->share_lock);
    return first;
}

/* --- entering ------------------------------------------------------------------------------- */

bool cst_share_enter(struct cst_thread *thread, struct cst_share **found) {
    struct cst_seat *seat = thread->seat;
    uint64_t construct = seat->construct++;
    uint64_t tag = construct + 1; /* never 0, never used twice in a team's life */
    struct cst_share *slot = &seat->team->ring[construct % CST_SHARE_RING];
    bool recent = construct < seat->construct_at_barrier + CST_SHARE_RING;
    thread->loop.tag = tag;
    *found = thread->share = slot;
    for (;;) {
        uint64_t claim = cst_load_acquire(&slot->claim);
        if (claim == 2 * tag) return false;
        if (claim < 2 * tag && (recent || slot_is_free(seat, construct))) {
            if (seat->size == 1) {
                cst_store_relaxed(&slot->claim, 2 * tag); /* nobody else is there */
                return true;
            }
            if (cst_cas_acq_rel(&slot->claim, &claim, 2 * tag)) return true;
            continue;
        }
        bool first = enter_beside(seat, slot, tag, found);
        if (*found) {
            thread->share = *found;
            return first;
        }
        *found = slot;
    }
}

bool cst_share_single(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    if (seat->size == 1) return true; /* neither of the two counts is advanced, so they agree */
    uint64_t single = seat->singles++;
    _Atomic uint64_t *taken = &seat->team->singles;
    /* Not looked at before: that would fetch the line twice. */
    return cst_cas_acq_rel(taken, &single, single + 1);
}

void cst_share_publish(struct cst_thread *thread, struct cst_share *share) {
    /* Pairs with the acquire in is_ready. */
    cst_store_release(&share->ready, thread->loop.tag);
}

static bool is_ready(struct cst_share *share, uint64_t tag) {
    return cst_load_acquire(&share->ready) == tag;
}

bool cst_share_await(struct cst_thread *thread, struct cst_share *share) {
    /* Setting up takes nanoseconds, unless the one who does it has lost its processor. */
    for (uint32_t polls = 1; !is_ready(share, thread->loop.tag); polls++) {
        if (cst_unlikely(thread->team->orphaned)) return false;
        cst_cpu_relax();
        if (polls % 64 == 0) cst_yield();
    }
    return true;
}

void cst_share_leave(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    thread->share = NULL;
    cst_store_release(&seat->construct_left, seat->construct);
}

void cst_share_clear_memory(struct cst_share *share, size_t size) {
    if (size > share->memory_size) {
        void *old = share->memory;
        share->memory_size = 0; /* a fork may copy the slot before it is set up */
        share->memory = NULL;
        free(old);
        if (size > SIZE_MAX - CST_CACHE_LINE) cst_runtime_out_of_memory();
        share->memory = aligned_alloc(CST_CACHE_LINE,
                                      (size + CST_CACHE_LINE - 1) & ~(size_t)(CST_CACHE_LINE - 1));
        if (!share->memory) cst_runtime_out_of_memory();
        share->memory_size = size;
    }
    if (size > 0) memset(share->memory, 0, size);
}
