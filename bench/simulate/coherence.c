/* coherence.c: see coherence.h. */
#include "coherence.h"

#include "profile.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct line *slot;
    size_t size, used; /* size is a power of two */
    uint64_t transfers;
} table;

void coherence_reset(void) {
    free(table.slot);
    table.size = 1 << 12;
    table.used = 0;
    table.transfers = 0;
    table.slot = calloc(table.size, sizeof *table.slot);
    if (!table.slot) abort();
}

static struct line *find(struct line *slot, size_t size, uintptr_t number) {
    size_t i = (number * 0x9e3779b97f4a7c15u >> 20) & (size - 1);
    while (slot[i].number && slot[i].number != number) i = (i + 1) & (size - 1);
    return &slot[i];
}

static void grow(void) {
    size_t size = 2 * table.size;
    struct line *slot = calloc(size, sizeof *slot);
    if (!slot) abort();
    for (size_t i = 0; i < table.size; i++)
        if (table.slot[i].number) *find(slot, size, table.slot[i].number) = table.slot[i];
    free(table.slot);
    table.slot = slot;
    table.size = size;
}

struct line *coherence_line(uintptr_t number) {
    struct line *line = find(table.slot, table.size, number);
    if (line->number) return line;
    if (2 * ++table.used > table.size) {
        grow();
        line = find(table.slot, table.size, number);
    }
    line->number = number;
    line->owner = -1;
    return line;
}

static bool shares(const struct line *line, int self) {
    return line->sharers[self / 64] >> (self % 64) & 1;
}

static void share(struct line *line, int self) {
    line->sharers[self / 64] |= UINT64_C(1) << (self % 64);
}

bool coherence_is_private(const struct line *line, int self) {
    return line->owner == self;
}

static uint64_t transfer(struct line *line, uint64_t now) {
    table.transfers++;
    uint64_t begin = now > line->ready ? now : line->ready;
    profile_transfer(begin - now);
    line->ready = begin + SIM_TRANSFER;
    return line->ready;
}

static bool is_elsewhere(const struct line *line, int self) {
    if (line->owner >= 0) return line->owner != self;
    for (int i = 0; i < SIM_MOST / 64; i++) {
        uint64_t others = line->sharers[i];
        if (i == self / 64) others &= ~(UINT64_C(1) << (self % 64));
        if (others) return true;
    }
    return false;
}

static uint64_t read_line(struct line *line, int self, uint64_t now) {
    if (line->owner == self || shares(line, self)) return now;
    if (!is_elsewhere(line, self)) { /* the line comes from memory */
        line->owner = self;
        return now;
    }
    if (line->owner >= 0) share(line, line->owner);
    line->owner = -1;
    share(line, self);
    return transfer(line, now);
}

uint64_t coherence_access(uintptr_t number, int self, uint64_t now, bool write,
                          coherence_loss *lost) {
    struct line *line = coherence_line(number);
    if (!write) return read_line(line, self, now);
    if (line->owner == self) return now;
    uint64_t done = is_elsewhere(line, self) ? transfer(line, now) : now;
    if (line->owner >= 0) lost(line->owner, done);
    for (int i = 0; i < SIM_MOST / 64; i++)
        for (uint64_t set = line->sharers[i]; set; set &= set - 1) {
            int sharer = 64 * i + __builtin_ctzll(set);
            if (sharer != self) lost(sharer, done);
        }
    memset(line->sharers, 0, sizeof line->sharers);
    line->owner = self;
    return done;
}

uint64_t coherence_transfers(void) {
    return table.transfers;
}
