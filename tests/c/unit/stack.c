/* platform/stack.h: switches keep the registers of both sides, and stacks end at a guard page.
 * Thunks pass every argument, also thunks that a forked child makes, although the parent was making
 * others.
 *
 * test: not thread ThreadSanitizer does not know of these stacks
 * test: not address AddressSanitizer takes another stack for an overflow */
#include "platform/stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

static struct cst_stack_place here, there;
static int turns;

/* A size that cannot be rounded up is refused, not mistaken for a small size. */
static void too_large(void) {
    struct cst_stack stack;
    for (size_t less = 0; less < 3 * 4096; less += 1000)
        CHECK(!cst_stack_make(&stack, SIZE_MAX - less));
}

/* The compiler keeps these values in registers across the switches. */
static void ping_pong(void *argument) {
    unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    double x = *(double *)argument;
    for (;;) {
        turns++;
        cst_stack_switch(&there, &here);
        a += b, b += c, c += d, d += e, e += f, f += a;
        x *= 2;
        *(double *)argument = x + (double)(a - a) * (double)(b + c + d + e);
    }
}

static void switches(void) {
    struct cst_stack stack;
    CHECK(cst_stack_make(&stack, 65536));
    CHECK_EQ((uintptr_t)stack.top % 16, 0);
    double shared = 1, expected = 1;
    long sum = 0;
    cst_stack_begin(&here, stack.top, ping_pong, &shared);
    for (int i = 1; i <= 1000; i++) {
        sum += i;
        CHECK_EQ(turns, i);
        cst_stack_switch(&here, &there);
        if (i <= 100) expected *= 2;
        if (i <= 100) CHECK(shared == expected);
    }
    CHECK_EQ(sum, 500500);
    cst_stack_free(&stack);
}

static void run_over(void *argument) {
    char room[4096];
    memset(room, 1, sizeof room);
    if (room[17]) run_over(argument);
    memset(argument, 2, 1);
}

/* A child process runs over the end of its stack; the neighbouring stack is not touched. */
static void guards(void) {
    pid_t child = fork();
    if (child == 0) {
        struct cst_stack stack;
        char byte;
        signal(SIGSEGV, SIG_DFL);
        if (cst_stack_make(&stack, 65536)) cst_stack_begin(&here, stack.top, run_over, &byte);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGSEGV);
}

struct adder {
    struct cst_callee callee;
    uint64_t more;
};

static double real(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Adds sixteen integers and ten floating-point numbers, in C's order; each has the weight of its
 * place. */
static void add(struct cst_callee *callee, struct cst_call *call) {
    double sum = (double)((struct adder *)callee)->more;
    size_t place = 1, on_stack = 0;
    for (size_t i = 0; i < 9; i++)
        sum += (double)(place++ *
                        (i < CST_CALL_INTEGERS ? call->integer[i] : call->stack[on_stack++]));
    for (size_t i = 0; i < 10; i++)
        sum += (double)place++ * real(i < CST_CALL_REALS ? call->real[i] : call->stack[on_stack++]);
    memcpy(&call->real[0], &sum, sizeof sum);
    call->integer[0] = 42;
}

typedef long first(long, long, long, long, long, long, long, long, long);
typedef double many(long, long, long, long, long, long, long, long, long, double, double, double,
                    double, double, double, double, double, double, double);

static void thunks(void) {
    enum { COUNT = 300 }; /* more thunks than a page holds */
    static struct adder adders[COUNT], dead = {{add}, 100000};
    static many *functions[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        adders[i] = (struct adder){{add}, 1000 * i};
        functions[i] = (many *)cst_thunk_make(&adders[i].callee);
        CHECK(functions[i] != NULL);
        for (size_t j = 0; j < i; j++) CHECK(functions[j] != functions[i]);
    }
    double expected = 0;
    for (int i = 1; i <= 19; i++) expected += i * i;
    for (size_t i = 0; i < COUNT; i++) {
        double got =
            functions[i](1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19);
        CHECK(got == expected + 1000.0 * (double)i);
    }
    CHECK_EQ(((first *)(void *)functions[3])(1, 2, 3, 4, 5, 6, 7, 8, 9), 42);
    cst_thunk_free((void *)functions[7], &dead.callee);
    CHECK(functions[7](1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19) ==
          expected + 100000);
    many *other = (many *)cst_thunk_make(&adders[7].callee);
    CHECK(other != functions[7]); /* the thunk that has been free for longest is used first */
}

static int stop;

static void *make_and_free(void *argument) {
    struct adder adder = {{add}, 0};
    while (!GET(&stop)) {
        void *thunk = cst_thunk_make(&adder.callee);
        CHECK(thunk != NULL);
        cst_thunk_free(thunk, &adder.callee);
    }
    return argument;
}

/* Most forks meet the other thread while it makes thunks. */
static void forks(void) {
    pthread_t maker;
    CHECK_EQ(pthread_create(&maker, NULL, make_and_free, NULL), 0);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            thunks();
            _exit(0);
        }
        int status;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    SET(&stop, 1);
    CHECK_EQ(pthread_join(maker, NULL), 0);
}

int main(void) {
    test_limit(60);
    too_large();
    switches();
    guards();
    thunks();
    forks();
    return 0;
}
