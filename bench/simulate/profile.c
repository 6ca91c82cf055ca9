/* profile.c: see profile.h. */
#include "profile.h"

#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 4096, SHOWN = 24 };

struct entry {
    const void *place;
    uint64_t transfers, waited, longest;
};

const void *profile_place;
static struct entry *entry;

void profile_start(void) {
    entry = calloc(PLACES, sizeof *entry);
}

void profile_transfer(uint64_t waited) {
    if (!entry) return;
    size_t i = ((uintptr_t)profile_place * 0x9e3779b97f4a7c15u >> 30) % PLACES;
    while (entry[i].place && entry[i].place != profile_place) i = (i + 1) % PLACES;
    entry[i].place = profile_place;
    entry[i].transfers++;
    entry[i].waited += waited;
    if (waited > entry[i].longest) entry[i].longest = waited;
}

static int by_waiting(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return (x->waited < y->waited) - (x->waited > y->waited);
}

void profile_print(void) {
    if (!entry) return;
    qsort(entry, PLACES, sizeof *entry, by_waiting);
    fprintf(stderr, "transfers, waited for others in all, longest, place\n");
    for (int i = 0; i < SHOWN && entry[i].place; i++)
        fprintf(stderr, "%9llu %9.0f %6.0f %p\n", (unsigned long long)entry[i].transfers,
                (double)entry[i].waited / SIM_TRANSFER, (double)entry[i].longest / SIM_TRANSFER,
                entry[i].place);
}
