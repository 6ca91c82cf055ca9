/* The addresses of Fortran's allocatable variables that came from OpenMP's allocators.
 *
 * A hash table with linear probing, under one lock: allocations of such variables are rare. */
#include "core/memory/allocator.h"

#include "core/base/lock.h"
#include "core/base/memory.h"

static struct {
    cst_lock lock; /* for all of it */
    void **slots;  /* their number is a power of two; NULL: free */
    size_t length, used;
} table;

enum { FIRST_LENGTH = 64 };

static size_t home(const void *memory) {
    return ((uintptr_t)memory >> 4) * UINT64_C(0x9e3779b97f4a7c15) & (table.length - 1);
}

static size_t after(size_t slot) {
    return (slot + 1) & (table.length - 1);
}

static void insert(void *memory) {
    size_t slot = home(memory);
    while (table.slots[slot] && table.slots[slot] != memory) slot = after(slot);
    if (!table.slots[slot]) table.used++;
    table.slots[slot] = memory;
}

/* Keeps the table at most half full, so that probes stay short. False: no memory. */
static bool make_room(void) {
    if (2 * (table.used + 1) <= table.length) return true;
    size_t old_length = table.length, length = old_length ? 2 * old_length : FIRST_LENGTH;
    void **old = table.slots, **bigger = calloc(length, sizeof *bigger);
    if (!bigger) return false;
    table.slots = bigger;
    table.length = length;
    table.used = 0;
    for (size_t i = 0; i < old_length; i++)
        if (old[i]) insert(old[i]);
    free(old);
    return true;
}

void cst_memory_remember(void *memory) {
    if (!memory) return;
    cst_lock_acquire(&table.lock);
    bool room = make_room();
    if (room) insert(memory);
    cst_lock_release(&table.lock);
    if (!room)
        cst_memory_exhausted("the list of allocated variables", 2 * table.length * sizeof memory);
}

/* Closes the gap: entries that the removed one displaced move back, so that no search ends too
 * early (Knuth, volume 3, section 6.4, algorithm R). */
static void erase(size_t gap) {
    for (size_t slot = after(gap); table.slots[slot]; slot = after(slot)) {
        size_t wanted = home(table.slots[slot]);
        bool stays = gap < slot ? gap < wanted && wanted <= slot : gap < wanted || wanted <= slot;
        if (stays) continue;
        table.slots[gap] = table.slots[slot];
        gap = slot;
    }
    table.slots[gap] = NULL;
    table.used--;
}

bool cst_memory_forget(void *memory) {
    if (!memory) return false;
    cst_lock_acquire(&table.lock);
    bool found = false;
    for (size_t slot = table.length ? home(memory) : 0; table.length && table.slots[slot];
         slot = after(slot))
        if (table.slots[slot] == memory) {
            erase(slot);
            found = true;
            break;
        }
    cst_lock_release(&table.lock);
    return found;
}

/* The child must not get a table that another thread is just changing. */
void cst_memory_before_fork(void) {
    cst_lock_acquire(&table.lock);
}

void cst_memory_after_fork(void) {
    cst_lock_release(&table.lock);
}
