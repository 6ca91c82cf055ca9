/* Which orders of steps are tried.
 *
 * Executions that differ only in the order of steps that do not touch each other are equivalent,
 * and one of them is enough. After each execution its races are sought: pairs of dependent steps of
 * two actors that nothing between them puts in order. Each must be tried the other way round too,
 * so one of the actors that could begin such an execution is noted at the node before the earlier
 * step. An actor whose step was tried at a node sleeps until a step that depends on it: Abdulla,
 * Aronis, Jonsson and Sagonas, "Optimal Dynamic Partial Order Reduction" (2014), the algorithm
 * called source-DPOR. */
#include "explorer.h"

#include <string.h>

enum { MOST_IDLE_SPINS = 500 };

static bool is_flush(unsigned actor) {
    return actor >= MOST_THREADS;
}

static bool waits_for_own_buffer(unsigned actor, const struct step *step) {
    return !is_flush(actor) &&
           (step->kind == WRITE || step->kind == FENCE || step->kind == BARRIER);
}

/* --- what may come next ---------------------------------------------------------------------- */

static bool all_buffers_empty(void) {
    for (unsigned t = 0; t < x->threads; t++)
        if (x->thread[t].buffered) return false;
    return true;
}

static bool is_enabled(unsigned t) {
    const struct thread *thread = &x->thread[t];
    if (thread->finished || thread->sleeps_on) return false;
    if (waits_for_own_buffer(t, &thread->next) && thread->buffered) return false;
    if (thread->next.kind == BARRIER) return all_buffers_empty();
    if (thread->next.kind == SPIN) return thread->stirred;
    return true;
}

static uint32_t enabled_actors(struct step next[MOST_ACTORS]) {
    uint32_t enabled = 0;
    for (unsigned t = 0; t < x->threads; t++) {
        const struct thread *thread = &x->thread[t];
        next[t] = thread->next;
        if (is_enabled(t)) enabled |= 1u << t;
        if (!thread->buffered) continue;
        enabled |= 1u << (t + MOST_THREADS);
        next[t + MOST_THREADS] = (struct step){.kind = WRITE,
                                               .address = thread->buffer[0].address,
                                               .after = thread->buffer[0].put,
                                               .place = thread->buffer[0].place};
    }
    if (enabled) return enabled;
    /* Nobody but spinners: one goes on, which matters to loops that give up after some turns. */
    for (unsigned t = 0; t < x->threads; t++) {
        const struct thread *thread = &x->thread[t];
        if (!thread->finished && !thread->sleeps_on && thread->next.kind == SPIN &&
            thread->idle_spins < MOST_IDLE_SPINS)
            return 1u << t;
    }
    return 0;
}

/* --- which steps depend on each other -------------------------------------------------------- */

/* Steps of two actors whose order may matter, where either could come first. */
static bool race(unsigned a, const struct step *s, unsigned b, const struct step *t) {
    /* A thread reads its own stores, flushed or not. */
    if (a % MOST_THREADS == b % MOST_THREADS) return false;
    if (s->kind == BARRIER) return t->kind == PUT;
    if (t->kind == BARRIER) return s->kind == PUT;
    return s->address && s->address == t->address && (s->kind == WRITE || t->kind == WRITE);
}

/* Does step s of actor a, which comes first, make step t of actor b possible? (`after` says more.)
 */
static bool enables(unsigned a, unsigned b, const struct step *t) {
    if (!is_flush(a)) return false;
    return t->kind == BARRIER || (a - MOST_THREADS == b && waits_for_own_buffer(b, t));
}

/* May a sleeping actor's step t have another effect now that s was done? */
static bool disturbs(unsigned a, const struct step *s, unsigned b, const struct step *t) {
    return race(a, s, b, t) || enables(a, b, t) || enables(b, a, s) ||
           (s->kind == WRITE && t->kind == SPIN) || (s->kind == SPIN && t->kind == WRITE);
}

/* --- choosing -------------------------------------------------------------------------------- */

static unsigned lowest(uint32_t set) {
    return (unsigned)__builtin_ctz(set);
}

static uint32_t sleepers_after(const struct node *node) {
    uint32_t asleep = (node->sleep | node->done) & ~(1u << node->chosen), left = 0;
    for (unsigned a = 0; a < MOST_ACTORS; a++)
        if ((asleep >> a & 1) &&
            !disturbs(node->chosen, &node->next[node->chosen], a, &node->next[a]))
            left |= 1u << a;
    return left;
}

unsigned search_choose(void) {
    struct node *node = &x->node[x->steps];
    if (x->steps >= MOST_STEPS - 1) {
        explorer_report("no end in sight");
        return NOBODY;
    }
    if (x->steps < x->depth) return node->chosen;
    node->enabled = enabled_actors(node->next);
    node->wanted = node->done = 0;
    node->sleep = x->steps > 0 ? sleepers_after(node - 1) : 0;
    if (node->enabled == 0) return NOBODY;
    uint32_t candidates = node->enabled & ~node->sleep;
    if (candidates == 0) {
        x->pruned = true;
        return NOBODY;
    }
    /* The running thread, if it may go on: short traces with few switches come first. */
    node->chosen = candidates >> x->running & 1 ? x->running : lowest(candidates);
    node->wanted = 1u << node->chosen;
    x->depth = x->steps + 1;
    return node->chosen;
}

/* --- races ----------------------------------------------------------------------------------- */

static void join(unsigned short *clock, const unsigned short *other) {
    for (unsigned a = 0; a < MOST_ACTORS; a++)
        if (clock[a] < other[a]) clock[a] = other[a];
}

/* Does step i come before the one with that clock, in any equivalent order? */
static bool before(unsigned i, const unsigned short *clock) {
    return clock[x->trace[i].actor] > i;
}

/* Step n, of actor p and with that clock so far, must be tried before step i. Those steps after i
 * that do not depend on it can come first; any actor that could begin with them will do. */
static void reverse(unsigned i, unsigned n, unsigned p, const unsigned short *clock) {
    struct node *node = &x->node[i];
    unsigned first[MOST_ACTORS]; /* each actor's first such step; n + 1: none */
    uint32_t initial = 0;
    for (unsigned a = 0; a < MOST_ACTORS; a++) first[a] = n + 1;
    for (unsigned k = i + 1; k <= n; k++) {
        const unsigned short *at = k < n ? x->clock[k] : clock;
        unsigned actor = k < n ? x->trace[k].actor : p;
        if (first[actor] <= n || before(i, at)) continue;
        bool is_initial = true;
        for (unsigned a = 0; a < MOST_ACTORS && is_initial; a++)
            if (first[a] <= n && at[a] > first[a]) is_initial = false;
        first[actor] = k;
        if (is_initial) initial |= 1u << actor;
    }
    initial &= node->enabled;
    if (node->wanted & initial) return;
    if (initial >> p & 1)
        node->wanted |= 1u << p;
    else
        node->wanted |= initial ? 1u << lowest(initial) : node->enabled;
}

/* Sets the clock of step n, which may be one that never came, and reverses its races. */
static void look_back(unsigned n, unsigned p, const struct step *step, const unsigned short *last,
                      const unsigned short (*flushes)[MOST_ACTORS]) {
    unsigned short *clock = x->clock[n];
    memcpy(clock, last, sizeof x->clock[n]);
    if (step->after >= 0) join(clock, x->clock[step->after]);
    if (waits_for_own_buffer(p, step)) join(clock, flushes[p]);
    if (step->kind == BARRIER)
        for (unsigned t = 0; t < x->threads; t++) join(clock, flushes[t]);
    for (unsigned i = n; i-- > 0;) {
        if (!race(x->trace[i].actor, &x->trace[i].step, p, step)) continue;
        if (!before(i, clock)) reverse(i, n, p, clock);
        join(clock, x->clock[i]);
    }
    clock[p] = (unsigned short)(n + 1);
}

static void find_races(void) {
    static unsigned short last[MOST_ACTORS][MOST_ACTORS];
    memset(last, 0, sizeof last);
    for (unsigned n = 0; n < x->steps; n++) {
        unsigned p = x->trace[n].actor;
        look_back(n, p, &x->trace[n].step, last[p], &last[MOST_THREADS]);
        memcpy(last[p], x->clock[n], sizeof last[p]);
    }
    for (unsigned t = 0; t < x->threads; t++)
        if (!x->thread[t].finished)
            look_back(x->steps, t, &x->thread[t].next, last[t], &last[MOST_THREADS]);
}

bool search_again(void) {
    find_races();
    for (; x->depth > 0; x->depth--) {
        struct node *node = &x->node[x->depth - 1];
        node->done |= 1u << node->chosen;
        uint32_t left = node->wanted & ~node->sleep & ~node->done;
        if (left == 0) continue;
        node->chosen = lowest(left);
        return true;
    }
    return false;
}
