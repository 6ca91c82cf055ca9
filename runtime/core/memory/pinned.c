/* Pinned memory, with many small blocks in a page; see pinned.h.
 *
 * A page has 64 units, and a word with a bit for each taken unit. The first unit holds the word. A
 * block is a run of units. A page whose last block is freed goes back at once. */
#include "core/memory/pinned.h"

#include "core/base/lock.h"
#include "platform/platform.h"

#include <string.h>

enum {
    UNITS = 64,
    MOST_UNITS = UNITS / 2, /* of a small block; larger blocks have pages of their own */
    MOST_LOOKS = 8          /* at pages with room, before it gets a new page */
};

struct page {
    uint64_t taken;     /* a bit for each unit */
    struct page *next;  /* in the list of pages with room */
    struct page **link; /* the pointer there to this page; NULL: not in the list */
    unsigned forks;     /* that led to the process which pinned the page */
};

static struct {
    cst_lock lock;     /* for all pages */
    struct page *room; /* pages with free units */
    unsigned forks;    /* that led to this process */
} pinned;

static const uint64_t header_only = 1;

static size_t unit_size(void) {
    return cst_page_size() / UNITS;
}

static struct page *page_of(void *block) {
    return (struct page *)((uintptr_t)block & ~(uintptr_t)(cst_page_size() - 1));
}

/* --- the list of pages with room: under the lock ------------------------------------------- */

static void insert(struct page *page) {
    page->next = pinned.room;
    page->link = &pinned.room;
    if (page->next) page->next->link = &page->next;
    pinned.room = page;
}

static void erase(struct page *page) {
    *page->link = page->next;
    if (page->next) page->next->link = page->link;
    page->link = NULL;
}

/* Adds a page of this process, whose header's unit is taken. */
static struct page *add_page(void) {
    size_t granted;
    struct page *page = cst_pages_get(sizeof *page, true, CST_PAGES_ANYWHERE, &granted);
    if (!page) return NULL;
    page->taken = header_only;
    page->forks = pinned.forks;
    insert(page);
    return page;
}

/* --- runs of units -------------------------------------------------------------------------- */

/* The units at which a free run of `units` begins. */
static uint64_t beginnings(uint64_t taken, unsigned units) {
    uint64_t found = ~taken;
    for (unsigned i = 1; i < units; i++) found &= ~taken >> i; /* zeros come in at the end */
    return found;
}

static struct page *find(unsigned units) {
    struct page *page = pinned.room;
    for (unsigned look = 0; page && look < MOST_LOOKS; look++) {
        if (beginnings(page->taken, units)) return page;
        page = page->next;
    }
    return add_page();
}

static uint64_t run(unsigned first, unsigned units) {
    return (((uint64_t)1 << units) - 1) << first;
}

static void *take(unsigned units) {
    struct page *page = find(units);
    if (!page) return NULL;
    unsigned first = (unsigned)__builtin_ctzll(beginnings(page->taken, units));
    page->taken |= run(first, units);
    if (page->taken == UINT64_MAX) erase(page);
    return (char *)page + first * unit_size();
}

static void give_back(struct page *page, unsigned first, unsigned units) {
    page->taken &= ~run(first, units);
    bool own = page->forks == pinned.forks; /* an inherited page is in no list, and not pinned */
    if (page->taken == header_only) {
        if (own && page->link) erase(page);
        cst_pages_free(page, cst_page_size());
    } else if (own && !page->link) {
        insert(page);
    }
}

/* --- for everybody -------------------------------------------------------------------------- */

void *cst_pinned_get(size_t size, size_t *granted) {
    size_t unit = unit_size();
    if (size > MOST_UNITS * unit) return cst_pages_get(size, true, CST_PAGES_ANYWHERE, granted);
    unsigned units = size ? (unsigned)((size + unit - 1) / unit) : 1;
    cst_lock_acquire(&pinned.lock);
    void *block = take(units);
    cst_lock_release(&pinned.lock);
    if (!block) return NULL;
    *granted = units * unit;
    return memset(block, 0, *granted);
}

void cst_pinned_free(void *block, size_t granted) {
    struct page *page = page_of(block);
    if (granted > MOST_UNITS * unit_size()) {
        cst_pages_free(block, granted);
        return;
    }
    unsigned first = (unsigned)((size_t)((char *)block - (char *)page) / unit_size());
    cst_lock_acquire(&pinned.lock);
    give_back(page, first, (unsigned)(granted / unit_size()));
    cst_lock_release(&pinned.lock);
}

void cst_pinned_before_fork(void) {
    cst_lock_acquire(&pinned.lock);
}

void cst_pinned_after_fork(void) {
    cst_lock_release(&pinned.lock);
}

void cst_pinned_after_fork_in_child(void) {
    pinned.room = NULL;
    pinned.forks++;
    cst_pinned_after_fork();
}
