/* Makes one memory order at a time weaker, for tools/model-score. The environment chooses it, so
 * that no program is compiled anew.
 *
 * - EXPLORE_SITES=FILE adds to FILE, for each model, each place of an order with its weaker orders.
 * - EXPLORE_WEAKEN=LINE:STEP:FILE makes the order at that place weaker by the step of that name.
 *   The table `steps` below names the steps. */
#define _GNU_SOURCE
#include "explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_SITES = 2048 };

struct step {
    const char *name;
    unsigned kinds; /* bits of enum score_kind */
    enum explore_order from, to;
};

#define ONLY(kind) (1u << (kind))
#define READS (ONLY(SCORE_LOAD) | ONLY(SCORE_FAILURE))
#define BOTH (ONLY(SCORE_CHANGE) | ONLY(SCORE_FENCE))

static const struct step steps[] = {
    {"seq_cst-acquire", READS, EXPLORE_SEQ_CST, EXPLORE_ACQUIRE},
    {"seq_cst-release", ONLY(SCORE_STORE), EXPLORE_SEQ_CST, EXPLORE_RELEASE},
    {"seq_cst-acq_rel", BOTH, EXPLORE_SEQ_CST, EXPLORE_ACQ_REL},
    {"acq_rel-acquire", BOTH, EXPLORE_ACQ_REL, EXPLORE_ACQUIRE},
    {"acq_rel-release", BOTH, EXPLORE_ACQ_REL, EXPLORE_RELEASE},
    {"acquire-relaxed", READS | BOTH, EXPLORE_ACQUIRE, EXPLORE_RELAXED},
    {"release-relaxed", ONLY(SCORE_STORE) | BOTH, EXPLORE_RELEASE, EXPLORE_RELAXED},
    {"none", ONLY(SCORE_BARRIER), EXPLORE_SEQ_CST, EXPLORE_RELAXED},
};
enum { STEPS = sizeof steps / sizeof *steps };

static struct score {
    struct {
        const char *file;
        int line;
        unsigned step, kind;
    } site[MOST_SITES];
    unsigned sites;
    const char *list;
    int line; /* the line of the weaker order; 0: none */
    unsigned step;
    const char *file;
} * score;

void score_end(const char *model) {
    FILE *file = score->list ? fopen(score->list, "a") : NULL;
    if (!file) return;
    for (unsigned i = 0; i < score->sites; i++)
        fprintf(file, "%s\t%s\t%d\t%s%s\n", model, score->site[i].file, score->site[i].line,
                score->site[i].kind == SCORE_FAILURE ? "failure-" : "",
                steps[score->site[i].step].name);
    fclose(file);
    score->sites = 0;
}

void score_prepare(void) {
    score = mmap(NULL, sizeof *score, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    score->list = getenv("EXPLORE_SITES");
    const char *weaken = getenv("EXPLORE_WEAKEN");
    if (!weaken) return;
    char *end;
    score->line = (int)strtol(weaken, &end, 10);
    const char *name = end + 1, *file = strchr(name, ':');
    score->file = file + 1;
    for (unsigned i = 0; i < STEPS; i++)
        if (strncmp(steps[i].name, name, (size_t)(file - name)) == 0) score->step = i;
}

static void note(unsigned step, enum score_kind kind, struct explore_place place) {
    for (unsigned i = 0; i < score->sites; i++)
        if (score->site[i].line == place.line && score->site[i].step == step &&
            score->site[i].kind == kind && strcmp(score->site[i].file, place.file) == 0)
            return;
    if (score->sites == MOST_SITES) return;
    unsigned i = score->sites++;
    score->site[i].file = place.file;
    score->site[i].line = place.line;
    score->site[i].step = step;
    score->site[i].kind = kind;
}

uint8_t score_order(enum explore_order order, enum score_kind kind, struct explore_place place) {
    if (!score->list && score->line != place.line) return (uint8_t)order;
    for (unsigned i = 0; i < STEPS; i++) {
        if (steps[i].from != order || !(steps[i].kinds >> kind & 1)) continue;
        if (score->list) note(i, kind, place);
        if (score->line == place.line && score->step == i && strcmp(score->file, place.file) == 0)
            return (uint8_t)steps[i].to;
    }
    return (uint8_t)order;
}
