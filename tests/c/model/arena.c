/* The program's memory. Each thread allocates from its own arena, so that addresses do not depend
 * on the order of steps. No memory is given out twice in an execution. */
#define _GNU_SOURCE
#include "explorer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_BLOCKS = 4096, MOST_KEPT = 2, SETUP = MOST_THREADS };

extern char __data_start[], _end[];

struct block {
    const char *start, *end;
    uint16_t made;
};

static struct memory {
    char *arena[MOST_THREADS + 1];
    size_t used[MOST_THREADS + 1];
    struct block block[MOST_THREADS][MOST_BLOCKS];
    unsigned blocks[MOST_THREADS];
    struct {
        char *data, *arena;
        size_t used;
    } kept[MOST_KEPT];
    unsigned depth;
} * memory; /* outside the data that arena_restore restores */

static void *map(size_t size) {
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
}

void arena_prepare(void) {
    memory = map(sizeof *memory);
    char *all = map((MOST_THREADS + 1) * (size_t)ARENA);
    for (unsigned t = 0; t <= MOST_THREADS; t++) memory->arena[t] = all + t * (size_t)ARENA;
}

void arena_keep(void) {
    size_t size = (size_t)(_end - __data_start);
    unsigned depth = memory->depth++;
    char *data = malloc(size), *arena = malloc(memory->used[SETUP] + 1);
    memory->kept[depth].data = data;
    memory->kept[depth].arena = arena;
    memory->kept[depth].used = memory->used[SETUP];
    memcpy(data, __data_start, size);
    memcpy(arena, memory->arena[SETUP], memory->used[SETUP]);
}

void arena_restore(void) {
    struct memory *own = memory; /* arena_restore overwrites the variable */
    unsigned last = own->depth - 1;
    memcpy(__data_start, own->kept[last].data, (size_t)(_end - __data_start));
    memcpy(own->arena[SETUP], own->kept[last].arena, own->kept[last].used);
    own->used[SETUP] = own->kept[last].used;
    for (unsigned t = 0; t < MOST_THREADS; t++) own->used[t] = own->blocks[t] = 0;
}

void arena_forget(void) {
    arena_restore();
    unsigned last = --memory->depth;
    free(memory->kept[last].data);
    free(memory->kept[last].arena);
}

unsigned arena_owner(const char *address, uint16_t *made) {
    size_t offset = (size_t)(address - memory->arena[0]), t = offset / ARENA;
    if (t >= MOST_THREADS || offset % ARENA >= memory->used[t]) return NOBODY;
    static struct block *last;
    if (last && address >= last->start && address < last->end) {
        *made = last->made;
        return (unsigned)t;
    }
    unsigned low = 0, high = memory->blocks[t];
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (memory->block[t][middle].start <= address)
            low = middle;
        else
            high = middle;
    }
    last = &memory->block[t][low];
    *made = last->made;
    return (unsigned)t;
}

void *explore_allocate(size_t size) {
    unsigned who = x->exploring ? x->running : SETUP;
    size = (size + 63) & ~(size_t)63;
    if (memory->used[who] + size + 64 > ARENA)
        explore_failed(EXPLORE_AT("memory for an execution"));
    char *given = memory->arena[who] + memory->used[who] + 64;
    memcpy(given - 8, &size, sizeof size);
    memset(given, 0, size);
    if (who != SETUP) {
        if (memory->blocks[who] == MOST_BLOCKS) explore_failed(EXPLORE_AT("MOST_BLOCKS"));
        memory->block[who][memory->blocks[who]++] =
            (struct block){given - 64, given + size, (uint16_t)x->thread[who].count};
    }
    memory->used[who] += size + 64;
    return given;
}

void explore_free(void *given) {
    size_t size;
    if (!given) return;
    memcpy(&size, (char *)given - 8, sizeof size);
    explore_plain_write(given, size);
    memset(given, 0xdd, size); /* a later use finds nonsense; the memory is not given out again */
}

void *explore_reallocate(void *given, size_t size) {
    size_t old = 0;
    void *bigger = explore_allocate(size);
    if (given) memcpy(&old, (char *)given - 8, sizeof old);
    if (given) explore_plain_read(given, old < size ? old : size);
    if (given) memcpy(bigger, given, old < size ? old : size);
    explore_free(given);
    return bigger;
}
