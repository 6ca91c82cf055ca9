/* See models.h. */
#include "models.h"

#include "core/settings/config.h"
#include "core/task/steal.h"
#include "core/task/task.h"
#include "core/team/team.h"
#include "core/wait/box.h"
#include "core/wait/policy.h"

enum { MOST_MEMBERS = 4 };

static struct cst_team *team;
static struct cst_thread *member[MOST_MEMBERS];

void models_configure(unsigned processors, bool spinning) {
    machine_is_impatient = machine_has_no_barrier = false;
    machine_rts = NULL;
    cst_config.icv.dynamic = CST_DYNAMIC_OFF;
    cst_config.available = processors;
    cst_config.wait_policy = spinning ? CST_WAIT_ACTIVE : CST_WAIT_PASSIVE;
    cst_config.spin_count = 0;
    cst_config.icv.nthreads = 1;
    cst_policy_init();
}

/* Does the work of cst_member_begin (team/member.c). */
static void seat_member(unsigned number, unsigned size, bool crowded) {
    cst_current_thread = NULL;
    struct cst_thread *thread = member[number] = cst_self();
    struct cst_seat *seat = &team->first;
    if (number > 0) {
        seat = aligned_alloc(CST_CACHE_LINE, sizeof *seat);
        cst_seat_init(seat, team, number);
        cst_load_relaxed(&team->seats)[number] = seat;
    }
    seat->thread = thread;
    seat->region = team->region;
    seat->size = size;
    seat->crowded = crowded;
    cst_task_init_implicit(&seat->implicit, team, seat, NULL, &team->icv);
    thread->team = team;
    thread->seat = seat;
    thread->task = &seat->implicit;
    thread->number = number;
}

struct cst_team *models_team(unsigned size, bool crowded) {
    team = aligned_alloc(CST_CACHE_LINE, sizeof *team);
    cst_team_init(team);
    team->region = 2;
    team->size = size;
    team->level = 1;
    team->active_level = size > 1;
    team->crowded = crowded;
    team->root = team;
    team->icv = cst_config.icv;
    cst_store_relaxed(&team->capacity, size);
    cst_store_relaxed(&team->awaited, size);
    cst_store_relaxed(&team->joining, size - 1);
    for (unsigned number = 0; number < size; number++) seat_member(number, size, crowded);
    cst_current_thread = member[0];
    return team;
}

void models_expect_tasks(void) {
    cst_store_relaxed(&team->tasking, team->region);
}

void models_enlarge(void) {
    for (unsigned number = 0; number < team->size; number++) {
        struct cst_seat *seat = cst_team_seat(team, number);
        seat->partners = (uint8_t)(32 - __builtin_clz(team->size - 1));
        seat->barrier = 1;
        seat->making.cut = UINT32_MAX;
        seat->making.until_look = UINT32_MAX;
        cst_box_begin(seat);
    }
}

struct cst_thread *models_sit(unsigned number) {
    return cst_current_thread = member[number];
}

int main(void) {
    explore_thread_local((void **)&cst_current_thread);
    cst_self(); /* the first execution must find the data that pthread keeps of this thread */
    return models_run();
}
