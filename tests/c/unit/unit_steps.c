/* core/wait/turn.h: at the end of a region in a turn the master notes its barriers and its join.
 *
 * test: flags -fopenmp -Wl,--wrap=cst_turn_note_region
 */
#include "unit.h"

#include "core/state/thread.h"
#include "core/wait/turn.h"

static int notes;
static uint32_t noted;

void __wrap_cst_turn_note_region(struct cst_thread *thread, uint32_t steps);
void __wrap_cst_turn_note_region(struct cst_thread *thread, uint32_t steps) {
    UNIT_CHECK(thread == cst_self());
    thread->turn_begun = 0;
    notes++;
    noted = steps;
}

static void open_region(int threads, int barriers) {
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < barriers; i++) {
#pragma omp barrier
    }
}

static void expect(int threads, int barriers) {
    notes = 0;
    cst_self()->turn_begun = 1;
    open_region(threads, barriers);
    UNIT_EQUAL(notes, 1);
    UNIT_EQUAL(noted, (uint32_t)barriers + 1);
}

static void barriers_and_the_join_are_steps(void) {
    open_region(2, 7);
    for (int i = 0; i < 3; i++) {
        expect(2, 0);
        expect(2, 5);
        expect(4, 1000);
        expect(3, 1);
    }
}

static void regions_outside_turns_are_not_noted(void) {
    notes = 0;
    open_region(2, 3);
    UNIT_EQUAL(notes, 0);
}

int main(void) {
    unit_limit(20);
    UNIT_RUN(barriers_and_the_join_are_steps);
    UNIT_RUN(regions_outside_turns_are_not_noted);
    return unit_result();
}
