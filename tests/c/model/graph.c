/* The graphs that are still to be tried.
 *
 * A level begins with a revisit, and holds the alternatives to all choices since then. The explorer
 * tries them from the last to the first: it cuts the graph after the event of the choice, and
 * changes that event. A revisit begins the next level; the graph is kept until that level is done.
 * So memory grows with the number of revisits in one execution, not with the number of
 * executions. */
#include "explorer.h"

#include <stdlib.h>
#include <string.h>

struct level {
    struct level *outer;
    struct item *item;
    unsigned count, room;
    ref placing, revisited;
    /* Set while an inner level is tried. */
    struct event *kept;
    unsigned length[MOST_THREADS];
    uint32_t stamp;
};

static void push_level(ref placing, ref revisited) {
    struct level *level = calloc(1, sizeof *level);
    level->outer = x->level;
    level->placing = placing;
    level->revisited = revisited;
    x->level = level;
}

static void pop_level(void) {
    struct level *level = x->level;
    x->level = level->outer;
    free(level->item);
    free(level);
}

void graph_begin(void) {
    memset(x->graph.length, 0, sizeof x->graph.length);
    x->graph.stamp = 0;
    x->level = NULL;
    push_level(NO_EVENT, NO_EVENT);
    x->placing = x->revisited = x->last = NO_EVENT;
}

void graph_end(void) {
    while (x->level) {
        free(x->level->kept);
        pop_level();
    }
}

unsigned graph_draw(unsigned out_of) {
    x->chance ^= x->chance << 13;
    x->chance ^= x->chance >> 7;
    x->chance ^= x->chance << 17;
    return (unsigned)(x->chance >> 33) % out_of;
}

const struct item *graph_drawn(void) {
    enum { SELDOM = 4 };
    return x->by_chance && x->choices > 0 && graph_draw(SELDOM) == 0 ? &x->drawn : NULL;
}

void graph_note(struct item item) {
    struct level *level = x->level;
    if (x->by_chance) {
        if (graph_draw(++x->choices) == 0) x->drawn = item;
        return;
    }
    if (level->count == level->room) {
        level->room = level->room ? 2 * level->room : 64;
        level->item = realloc(level->item, level->room * sizeof *level->item);
    }
    level->item[level->count++] = item;
}

/* Cuts all events with a later stamp. */
static void cut(uint32_t stamp) {
    for (unsigned t = 0; t < MOST_THREADS; t++) {
        unsigned *length = &x->graph.length[t];
        while (*length > 0 && x->graph.event[t][*length - 1].stamp > stamp) --*length;
    }
    x->graph.stamp = stamp;
}

static void keep(struct level *level) {
    size_t total = 0;
    for (unsigned t = 0; t < MOST_THREADS; t++) total += x->graph.length[t];
    struct event *to = level->kept = malloc((total + 1) * sizeof *to);
    memcpy(level->length, x->graph.length, sizeof level->length);
    level->stamp = x->graph.stamp;
    for (unsigned t = 0; t < MOST_THREADS; to += level->length[t++])
        memcpy(to, x->graph.event[t], level->length[t] * sizeof *to);
}

static void bring_back(struct level *level) {
    const struct event *from = level->kept;
    if (!from) return;
    memcpy(x->graph.length, level->length, sizeof level->length);
    x->graph.stamp = level->stamp;
    for (unsigned t = 0; t < MOST_THREADS; from += level->length[t++])
        memcpy(x->graph.event[t], from, level->length[t] * sizeof *from);
    free(level->kept);
    level->kept = NULL;
}

static void revisit(const struct item *item) {
    keep(x->level);
    for (unsigned t = 0; t < MOST_THREADS; t++)
        if (x->graph.length[t] > item->length[t]) x->graph.length[t] = item->length[t];
    event_of(item->other)->from = item->event;
    push_level(item->event, item->other);
    x->placing = item->event;
}

bool graph_next(void) {
    x->placing = x->last = NO_EVENT;
    while (x->level->count == 0) {
        if (!x->level->outer) return false;
        pop_level();
        bring_back(x->level);
    }
    struct item item = x->level->item[--x->level->count];
    cut(item.stamp);
    if (item.kind == READ_FROM) event_of(x->last = item.event)->from = item.other;
    if (item.kind == RANK) event_of(item.event)->rank = item.rank;
    if (item.kind == REVISIT) revisit(&item);
    x->revisited = x->level->revisited;
    if (item.kind != READ_FROM && item.event == x->level->placing) x->last = x->revisited;
    return true;
}
