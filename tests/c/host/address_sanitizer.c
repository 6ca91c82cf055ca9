/* The library serves a program of AddressSanitizer like any other. This includes a preloaded
 * library, although the sanitizer ends a program in which it is not the first library. The
 * sanitizer's reports, also at the program's end, stay the same.
 *
 * test: not stock preloaded, it is ended
 * test: not check the test is about the shared library
 * test: not thread the test is about the shared library
 * test: not address the test is about the shared library
 * test: not undefined the test is about the shared library
 * test: flags -fsanitize=address
 * test: not qemu the search for leaks wants ptrace
 */
#include "process.h"
#include <limits.h>
#include <omp.h>

static void work(void) {
    int sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        int *memory = malloc(100 * sizeof *memory);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100; i++) sum += memory[i] = i;
        free(memory);
#pragma omp single
        for (int i = 0; i < 50; i++) {
            char data[300] = {0};
#pragma omp task firstprivate(data)
            {
                volatile char *last = &data[299];
                *last = 1;
            }
        }
    }
    CHECK_EQ(sum, 4950);
}

/* Leaks ten blocks, as a register or the stack may still hold the address of one. */
static __attribute__((noinline)) void leak(void) {
    for (int i = 0; i < 10; i++) *(volatile int *)malloc(80) = i;
}

static void in_child(const char *what) {
    work();
    volatile int *memory = malloc(20 * sizeof *memory);
    static volatile int past = 20;
    if (!strcmp(what, "overflow")) memory[past] = 1;
    if (!strcmp(what, "leak")) leak();
    free((int *)memory);
}

static void expect(const char *what, const char *preload, int well, const char *report) {
    struct child child =
        run_child(what, &(struct child_options){.environment = {preload, "ASAN_OPTIONS"}});
    int right = WIFEXITED(child.status) && (WEXITSTATUS(child.status) == 0) == well &&
                (report ? strstr(child.output, report) != NULL : !child.output[0]);
    if (!right)
        fprintf(stderr, "%s, %s: status 0x%x, output: %s\n", what, preload, (unsigned)child.status,
                child.output);
    CHECK(right);
}

int main(int count, char **arguments) {
    char preload[PATH_MAX + 16];
    if (count > 1) {
        in_child(arguments[1]);
        return 0;
    }
    test_limit(58);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("TEST_LIBRARY"));
    const char *const ways[] = {"NOTHING", preload};
    for (int i = 0; i < 2; i++) {
        expect("well", ways[i], 1, NULL);
        expect("overflow", ways[i], 0, "heap-buffer-overflow");
        expect("leak", ways[i], 0, "byte(s) leaked in");
    }
    return 0;
}
