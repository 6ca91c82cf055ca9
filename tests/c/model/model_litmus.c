/* Tests of the explorer itself: litmus tests with known verdicts (litmus.txt), each graph once.
 * With `--outcomes` it prints the possible outcomes of a program on standard input, for
 * check-litmus. */
#include "explore.h"

#include "models.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LITMUS_THREADS = 5, MOST_STEPS = 8, MOST_READS = 12, VARIABLES = 26, LINE = 300 };
#define ANY INT64_MIN
#define UNREAD (-1)

struct step {
    char what; /* = + : ? R F, or i: goes on if the last load has read `value` */
    unsigned variable;
    bool plain;
    enum explore_order order;
    enum { FENCE, LIGHT, HEAVY } fence;
    int64_t value, expected;
    unsigned result;
};

static struct step program[MOST_LITMUS_THREADS][MOST_STEPS];
static unsigned steps[MOST_LITMUS_THREADS], threads, reads;
static uint64_t variable[VARIABLES];
static int64_t result[MOST_READS];
static bool used[VARIABLES];
static bool prints;

/* The outcomes of a test, in memory that is not restored. */
static struct found {
    int64_t wanted[MOST_READS], wanted_end[VARIABLES];
    long times;
} * found;

/* --- reading --------------------------------------------------------------------------------- */

static void set_order(struct step *step, const char *order) {
    static const char *const names[] = {"", "acq", "rel", "ar", "sc"};
    if (strcmp(order, "na") == 0) step->plain = true;
    if (strcmp(order, "light") == 0) step->fence = LIGHT;
    if (strcmp(order, "heavy") == 0) step->fence = HEAVY;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(order, names[i]) == 0) step->order = (enum explore_order)i;
}

static void read_step(const char *word, struct step *step) {
    *step = (struct step){0};
    const char *order = strchr(word, '.');
    set_order(step, order ? order + 1 : "");
    if (word[0] == '?') {
        step->what = 'i';
        step->expected = atoi(word + 1);
        return;
    }
    step->what = word[0] == 'F' ? 'F' : word[1] && word[1] != '.' ? word[1] : 'R';
    if (step->what == 'F') return;
    step->variable = (unsigned)(word[0] - 'a');
    used[step->variable] = true;
    if (step->what != 'R') step->value = atoi(word + 2);
    if (step->what == '?') {
        step->expected = step->value;
        step->value = atoi(strchr(word, ':') + 1);
    }
    if (step->what != '=') step->result = reads++;
}

static void read_program(char *line) {
    memset(steps, 0, sizeof steps);
    memset(used, 0, sizeof used);
    threads = 1;
    reads = 0;
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
        if (strcmp(word, "|") == 0)
            threads++;
        else
            read_step(word, &program[threads - 1][steps[threads - 1]++]);
    }
}

static void read_outcome(char *line) {
    unsigned next = 0;
    for (unsigned i = 0; i < MOST_READS; i++) found->wanted[i] = ANY;
    for (unsigned i = 0; i < VARIABLES; i++) found->wanted_end[i] = ANY;
    found->times = 0;
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
        if (isdigit((unsigned char)word[0])) found->wanted[next++] = atoi(word);
        if (word[0] == '_') next++;
        if (islower((unsigned char)word[0])) found->wanted_end[word[0] - 'a'] = atoi(word + 2);
    }
}

/* --- running --------------------------------------------------------------------------------- */

static uint64_t do_access(const struct step *step) {
    uint64_t *address = &variable[step->variable], expected = (uint64_t)step->expected;
    struct explore_place place = EXPLORE_AT("step");
    uint64_t value = (uint64_t)step->value;
    switch (step->what) {
    case '+':
        return explore_change(address, 8, EXPLORE_ADD, value, step->order, place);
    case ':':
        return explore_change(address, 8, EXPLORE_EXCHANGE, value, step->order, place);
    case '?':
        explore_cas(address, 8, &expected, value, step->order,
                    step->order == EXPLORE_SEQ_CST ? EXPLORE_ACQUIRE : EXPLORE_RELAXED, place);
        return expected;
    case '=':
        if (step->plain) {
            explore_plain_write(address, 8);
            *address = value;
        } else {
            explore_store(address, 8, value, step->order, place);
        }
        return 0;
    default:
        if (!step->plain) return explore_load(address, 8, step->order, place);
        explore_plain_read(address, 8);
        return *address;
    }
}

static void do_fence(const struct step *step) {
    if (step->fence == LIGHT) explore_compiler_barrier(EXPLORE_AT("light"));
    if (step->fence == HEAVY) explore_process_barrier(EXPLORE_AT("heavy"));
    if (step->fence == FENCE) explore_fence(step->order, EXPLORE_AT("fence"));
}

__attribute__((no_sanitize_thread)) static void run(unsigned number) {
    int64_t last = 0;
    for (unsigned i = 0; i < steps[number]; i++) {
        const struct step *step = &program[number][i];
        if (step->what == 'i' && last != step->expected) break;
        if (step->what == 'F') do_fence(step);
        if (step->what == 'i' || step->what == 'F') continue;
        uint64_t value = do_access(step);
        if (step->what == '=') continue;
        last = result[step->result] = (int64_t)value;
    }
}

static void begin(void) {
    memset(variable, 0, sizeof variable);
    for (unsigned i = 0; i < MOST_READS; i++) result[i] = UNREAD;
}

static void look(void) {
    bool matches = true;
    for (unsigned i = 0; i < reads; i++)
        matches &= found->wanted[i] == ANY || found->wanted[i] == result[i];
    for (unsigned i = 0; i < VARIABLES; i++)
        matches &= found->wanted_end[i] == ANY || found->wanted_end[i] == (int64_t)variable[i];
    found->times += matches;
    if (!prints) return;
    for (unsigned i = 0; i < reads; i++) printf("%ld ", (long)result[i]);
    for (unsigned i = 0; i < VARIABLES; i++)
        if (used[i]) printf("%c=%ld ", 'a' + (int)i, (long)variable[i]);
    printf("\n");
}

/* Returns true if there is no race. */
static bool search(void) {
    const struct explore_model model = {"litmus",           begin,        run, look,
                                        .threads = threads, .quiet = true};
    return explore(&model);
}

static bool check(const char *name, const char *verdict) {
    bool clean = search(), allowed = found->times > 0;
    const char *is = clean ? allowed ? "allowed" : "forbidden" : "race";
    if (strcmp(verdict, "clean") == 0 && clean) is = verdict;
    if (strcmp(is, verdict) == 0) return true;
    fprintf(stderr, "litmus %s: %s, but is %s\n", name, verdict, is);
    return false;
}

static void print_outcomes(void) {
    char line[LINE];
    prints = true;
    while (fgets(line, sizeof line, stdin)) {
        read_program(line);
        if (!search()) printf("race\n");
        printf("end\n");
        fflush(stdout);
    }
}

int models_run(void) {
    char line[LINE], text[LINE], outcome[LINE], name[LINE], verdict[LINE];
    unsigned tests = 0, wrong = 0;
    found = (malloc)(sizeof *found);
    read_outcome((char[]){""});
    if (getenv("LITMUS_OUTCOMES")) {
        print_outcomes();
        return 0;
    }
    FILE *file = fopen("tests/c/model/litmus.txt", "r");
    if (!file) return 1;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%299s %299s", name, verdict) != 2) continue;
        if (!fgets(text, sizeof text, file) || !fgets(outcome, sizeof outcome, file)) return 1;
        read_program(text);
        read_outcome(outcome);
        tests++;
        wrong += !check(name, verdict);
    }
    fclose(file);
    printf("litmus: %u tests, %u wrong\n", tests, wrong);
    return wrong > 0 || tests == 0;
}
