/* The host's first thread ends by pthread_exit, and the process goes on. The process ends with the
 * host's last thread, with status 0 and its exit handlers, whichever of the two threads used
 * OpenMP, and when.
 *
 * test: not qemu the kernel does not tell that the first thread has ended
 */
#define _GNU_SOURCE
#include "process.h"
#include <omp.h>
#include <pthread.h>

static void region(void) {
    int count = 0;
#pragma omp parallel num_threads(4) reduction(+ : count)
    count++;
    CHECK_EQ(count, 4);
}

static int main_thread;

/* Waits until /proc shows the first thread as a zombie, or no longer shows it: then it has
 * ended. */
static void await_end_of_main(void) {
    for (int turn = 0; turn < 2000; turn++) {
        char path[64], state = 'Z';
        snprintf(path, sizeof path, "/proc/self/task/%d/stat", main_thread);
        FILE *stat = fopen(path, "r");
        if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
        if (stat) fclose(stat);
        if (state == 'Z') return;
        pause_ms(1);
    }
    CHECK(!"main has ended");
}

static void *uses_nothing(void *unused) {
    await_end_of_main();
    pause_ms(20);
    return unused;
}

static void *uses_before(void *unused) {
    region();
    return uses_nothing(unused);
}

static void *uses_after(void *unused) {
    await_end_of_main();
    region();
    return unused;
}

static void *uses_always(void *unused) {
    region();
    await_end_of_main();
    region();
    pause_ms(20);
    region();
    return unused;
}

static void *starts_another(void *unused) {
    pthread_t thread;
    region();
    await_end_of_main();
    CHECK(pthread_create(&thread, NULL, uses_nothing, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
    return unused;
}

static void *in_region(void *unused) {
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 1) await_end_of_main();
#pragma omp barrier
    }
    return unused;
}

static void say_bye(void) {
    if (write(1, "bye", 3) != 3) _exit(99);
}

static const struct {
    const char *name;
    void *(*other)(void *);
} ways[] = {{"nothing", uses_nothing}, {"before", uses_before},     {"after", uses_after},
            {"always", uses_always},   {"another", starts_another}, {"region", in_region}};
enum { WAYS = sizeof ways / sizeof *ways };

/* An argument that begins with "m": main opens a region too. */
static _Noreturn void leave(const char *argument) {
    pthread_t thread;
    main_thread = getpid();
    atexit(say_bye);
    if (*argument++ == 'm') region();
    for (int i = 0; i < WAYS; i++)
        if (!strcmp(argument, ways[i].name))
            CHECK(pthread_create(&thread, NULL, ways[i].other, NULL) == 0);
    pthread_exit(NULL);
}

int main(int count, char **arguments) {
    if (count > 1) leave(arguments[1]);
    test_limit(240);
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < 2 * WAYS; i++) {
            char argument[32];
            snprintf(argument, sizeof argument, "%c%s", i < WAYS ? 'm' : '-', ways[i % WAYS].name);
            struct child child = run_child(argument, NULL);
            EXPECT_EXIT(child, 0);
            CHECK(!strcmp(child.output, "bye"));
        }
    return 0;
}
