/* Slots of worksharing constructs; see share.h. */
#include "core/work/share.h"

#include "core/base/memory.h"
#include "core/state/thread.h"
#include "core/wait/owner.h"
#include "platform/happens.h"
#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

/* Has every member left the construct that used slot `construct` before? */
static bool slot_is_free(struct cst_seat *seat, uint64_t construct) {
    struct cst_team *team = seat->team;
    uint64_t least = seat->construct;
    if (construct < seat->left_by_all + CST_SHARE_RING) return true;
    for (uint32_t i = 0; i < team->size; i++) {
        /* Acquire pairs with the release in cst_share_leave: the member has stopped reading the
         * slot. A member that has not begun the region yet still shows an older count. */
        _Atomic uint64_t *word = &cst_team_seat(team, i)->construct_left;
        uint64_t left = cst_load_acquire(word);
        cst_happens_after(word);
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

static bool grow(struct cst_beside *table) {
    struct cst_beside old = *table;
    uint32_t buckets = old.buckets ? 2 * old.buckets : FIRST_BUCKETS;
    struct cst_share **bucket = calloc(buckets, sizeof *bucket);
    if (!bucket) return old.buckets > 0; /* longer lists serve as well */
    table->buckets = buckets;
    table->bucket = bucket;
    for (uint32_t i = 0; i < old.buckets; i++)
        for (struct cst_share *share = old.bucket[i], *next; share; share = next) {
            struct cst_share **to = bucket_of(table, cst_load_relaxed(&share->claim) / 2);
            next = share->beside;
            share->beside = *to;
            *to = share;
        }
    free(old.bucket);
    return true;
}

/* A slot in the tag's bucket whose construct all members have left, or a new slot; NULL: no
 * memory. */
static struct cst_share *make_beside(struct cst_seat *seat, uint64_t tag) {
    struct cst_beside *table = &seat->team->beside;
    if (table->count == table->buckets && !grow(table)) return NULL;
    struct cst_share **bucket = bucket_of(table, tag), *share = *bucket;
    while (share && cst_load_relaxed(&share->claim) > 2 * seat->left_by_all) share = share->beside;
    if (!share) {
        share = aligned_alloc(CST_CACHE_LINE, sizeof *share);
        if (!share) return NULL;
        memset(share, 0, sizeof *share);
        share->beside = *bucket;
        *bucket = share;
        table->count++;
    }
    cst_store_relaxed(&share->claim, 2 * tag);
    return share;
}

/* Called when the ring's slot is in use, or has gone on to a later construct. True: this member is
 * the first. NULL in *found: the caller must look again. */
static bool enter_beside(struct cst_seat *seat, struct cst_share *slot, uint64_t tag,
                         struct cst_share **found) {
    struct cst_team *team = seat->team;
    bool first = false;
    cst_lock_acquire(&team->share_lock);
    uint64_t claim = cst_load_relaxed(&slot->claim);
    *found = find_beside(&team->beside, tag);
    if (!*found && claim / 2 > tag) {
        *found = slot; /* the slot had this construct before */
    } else if (!*found && claim / 2 < tag && cst_cas_relaxed(&slot->claim, &claim, 2 * tag + 1)) {
        *found = make_beside(seat, tag);
        first = true;
    }
    cst_lock_release(&team->share_lock);
    if (cst_unlikely(first && !*found))
        cst_memory_exhausted("a worksharing construct", sizeof **found);
    return first;
}

/* --- entering ------------------------------------------------------------------------------- */

bool cst_share_enter(struct cst_thread *thread, struct cst_share **found) {
    struct cst_seat *seat = thread->seat;
    uint64_t construct = seat->construct++;
    uint64_t tag = construct + 1; /* never 0, and unique in a team's life */
    struct cst_share *slot = &seat->team->ring[construct % CST_SHARE_RING];
    bool recent = construct < seat->construct_at_barrier + CST_SHARE_RING;
    thread->loop.tag = tag;
    *found = thread->share = slot;
    for (;;) {
        /* Relaxed: `ready` orders the contents of the slot. */
        uint64_t claim = cst_load_relaxed(&slot->claim);
        if (claim == 2 * tag) return false;
        if (claim < 2 * tag && (recent || slot_is_free(seat, construct))) {
            if (seat->size == 1) {
                cst_store_relaxed(&slot->claim, 2 * tag); /* no other member can claim it */
                return true;
            }
            if (cst_cas_relaxed(&slot->claim, &claim, 2 * tag)) return true;
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
    if (seat->size == 1) return true; /* neither count advances, so the two agree */
    uint64_t single = seat->singles++;
    _Atomic uint64_t *taken = &seat->team->singles;
    /* The exchange comes without a load before it, which would fetch the line twice. */
    return cst_cas_relaxed(taken, &single, single + 1);
}

void cst_share_publish(struct cst_thread *thread, struct cst_share *share) {
    cst_happens_before(&share->ready);
    /* Pairs with the acquire in is_ready. */
    cst_store_release(&share->ready, thread->loop.tag);
}

static bool is_ready(struct cst_share *share, uint64_t tag) {
    return cst_load_acquire(&share->ready) == tag;
}

bool cst_share_await(struct cst_thread *thread, struct cst_share *share) {
    /* To set up a slot takes nanoseconds, unless the member that does so has lost its processor. */
    for (uint32_t polls = 0; !is_ready(share, thread->loop.tag);) {
        if (cst_unlikely(thread->team->orphaned)) return false;
        cst_wait_for_owner(&polls);
    }
    cst_happens_after(&share->ready);
    return true;
}

void cst_share_leave(struct cst_thread *thread) {
    struct cst_seat *seat = thread->seat;
    thread->share = NULL;
    cst_happens_before(&seat->construct_left);
    cst_store_release(&seat->construct_left, seat->construct);
}

/* --- memory of a construct ---------------------------------------------------------------- */

enum { LARGE_ROOM = 64 * 1024 };

/* Does the member know that all have left the newest construct that came to the slot? */
static bool is_left(const struct cst_seat *seat, struct cst_share *slot) {
    uint64_t tag = cst_load_relaxed(&slot->claim) / 2;
    return tag <= seat->construct_at_barrier || tag <= seat->left_by_all;
}

/* Takes a large enough room out of the ring, and frees the other large rooms that are not in use.
 * The lock is needed, as two constructs may be set up at once. A member that is about to set up one
 * of these slots has moved its `claim` before it takes this lock. */
static void take_over(struct cst_seat *seat, struct cst_room *room, size_t size) {
    cst_lock_acquire(&seat->team->share_lock);
    for (uint32_t i = 0; i < 2 * CST_SHARE_RING; i++) {
        struct cst_share *slot = &seat->team->ring[i / 2];
        struct cst_room *other = i % 2 ? &slot->lines : &slot->memory, own = *room;
        if (other->size < LARGE_ROOM || !is_left(seat, slot)) continue;
        if (room->size < size && other->size >= size) {
            *room = *other;
            *other = own;
        } else {
            void *start = other->start;
            *other = (struct cst_room){0};
            free(start);
        }
    }
    cst_lock_release(&seat->team->share_lock);
}

void cst_share_clear(struct cst_thread *thread, struct cst_room *room, size_t size) {
    if (size > SIZE_MAX - CST_CACHE_LINE)
        cst_memory_exhausted("what the members of a loop share", size);
    size_t rounded = (size + CST_CACHE_LINE - 1) & ~(size_t)(CST_CACHE_LINE - 1);
    if (rounded > room->size && rounded >= LARGE_ROOM) take_over(thread->seat, room, rounded);
    if (rounded > room->size) {
        void *old = room->start;
        room->size = 0; /* a fork may copy the slot before it is set up */
        room->start = NULL;
        free(old);
        room->start = aligned_alloc(CST_CACHE_LINE, rounded);
        if (!room->start) cst_memory_exhausted("what the members of a loop share", rounded);
        room->size = rounded;
    }
    if (size > 0) memset(room->start, 0, size);
}
