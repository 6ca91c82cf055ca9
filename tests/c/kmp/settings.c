/* The variables KMP_*. Settings with an effect here work, settings of libomp's insides are ignored,
 * and a warning names each wrong value. The program runs itself with each setting.
 *
 * test: flags -Lbuild/lib
 * test: not clang-stock libomp 14 has fewer units, and prints KMP_AFFINITY's list by default
 */
#define _GNU_SOURCE
#include "testing.h"

#include <omp.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int __kmpc_global_thread_num(void *);
void __kmpc_push_num_threads_strict(void *, int, int, int, const char *);

/* Returns whether the thread that makes the tasks submits all of them before it runs one. */
static int queued(void) {
    enum { TASKS = 2000 };
    int made = 0, made_at_first = -1, block = 1;
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        for (int i = 0; i < TASKS; i++) {
            made++;
#pragma omp task shared(made, made_at_first, block)
            {
                if (omp_get_thread_num() == 0) {
                    if (made_at_first < 0) made_at_first = made;
                    SET(&block, 0);
                }
                while (GET(&block)) sched_yield();
            }
        }
        SET(&block, 0);
    }
    return made_at_first < 0 || made_at_first == TASKS;
}

/* A team of the strict size is not possible: a message says so. */
static int strict(void) {
    int members = 0;
    __kmpc_push_num_threads_strict(NULL, __kmpc_global_thread_num(NULL), 3, 1, "not so many");
#pragma omp parallel
    INCREMENT(&members);
    return members;
}

static int own_processors(void) {
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 0;
}

/* Counts the errors of a first thread that must be bound in outermost regions, and not after
 * them. */
static int resets(void) {
    int all = own_processors(), wrong = 0;
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        {
            wrong += own_processors() != 1;
#pragma omp parallel num_threads(1) reduction(+ : wrong)
            wrong += own_processors() != 1;
            wrong += own_processors() != 1;
        }
        wrong += own_processors() != all;
    }
    return wrong;
}

/* Returns the value that a program sees under this setting; its stderr goes to the parent. */
static int child(const char *what) {
    if (!strcmp(what, "blocktime")) return kmp_get_blocktime();
    if (!strcmp(what, "stack")) return (int)(kmp_get_stacksize_s() >> 20);
    if (!strcmp(what, "serial")) return omp_get_max_threads();
    if (!strcmp(what, "limit")) return omp_get_thread_limit();
    if (!strcmp(what, "queued")) return queued();
    if (!strcmp(what, "strict")) return strict();
    if (!strcmp(what, "bind")) return (int)omp_get_proc_bind();
    if (!strcmp(what, "places")) return omp_get_num_places();
    if (!strcmp(what, "processors")) return omp_get_num_procs();
    if (!strcmp(what, "resets")) return resets();
    int members = 0;
#pragma omp parallel num_threads(2)
    INCREMENT(&members);
    return members;
}

static char said[4096];

static int ask(const char *self, const char *setting, const char *what) {
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    pid_t id = fork();
    if (id == 0) {
        putenv((char *)setting);
        dup2(ends[1], 2);
        close(ends[0]);
        execl(self, self, what, NULL);
        _exit(99);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t more; (more = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)more;
    said[length] = '\0';
    close(ends[0]);
    CHECK(waitpid(id, &status, 0) == id && WIFEXITED(status));
    return WEXITSTATUS(status);
}

int main(int count, char **arguments) {
    test_limit(30);
    if (count > 1) return child(arguments[1]);
    const char *self = arguments[0];
    CHECK_EQ(ask(self, "KMP_BLOCKTIME=17", "blocktime"), 17);
    CHECK_EQ(ask(self, "KMP_BLOCKTIME=50ms", "blocktime"), 50);
    CHECK_EQ(ask(self, "KMP_UNUSED=0", "blocktime"), 200);
    CHECK_EQ(ask(self, "KMP_STACKSIZE=5M", "stack"), 5);
    CHECK_EQ(ask(self, "KMP_STACKSIZE=3145728", "stack"), 3);
    CHECK_EQ(ask(self, "KMP_LIBRARY=serial", "serial"), 1);
    CHECK_EQ(ask(self, "KMP_ALL_THREADS=3", "limit"), 3);
    CHECK_EQ(ask(self, "OMP_WAIT_POLICY=passive", "blocktime"), 0);
    CHECK_EQ(ask(self, "KMP_ENABLE_TASK_THROTTLING=0", "queued"), 1);
    CHECK_EQ(ask(self, "KMP_ALL_THREADS=2", "strict"), 2);
    CHECK(strstr(said, "OMP: Warning") && strstr(said, "not so many"));
    CHECK_EQ(ask(self, "KMP_ALL_THREADS=3", "strict"), 3);
    CHECK_EQ(said[0], '\0');
    CHECK_EQ(ask(self, "KMP_AFFINITY=granularity=fine,compact", "bind"), omp_proc_bind_close);
    CHECK_EQ(ask(self, "KMP_AFFINITY=verbose,scatter", "bind"), omp_proc_bind_spread);
    CHECK_EQ(ask(self, "KMP_AFFINITY=explicit,proclist=[0]", "places"), 1);
    CHECK_EQ(ask(self, "KMP_AFFINITY=reset,granularity=thread,compact", "resets"), 0);
    CHECK_EQ(ask(self, "KMP_HW_SUBSET=1c,1t", "processors"), 1);
    CHECK_EQ(said[0], '\0');
    CHECK_EQ(ask(self, "KMP_HW_SUBSET=*c", "processors"), omp_get_num_procs());
    CHECK_EQ(ask(self, "KMP_HW_SUBSET=9999c", "processors"), omp_get_num_procs());
    CHECK(strstr(said, "OMP: Warning") && strstr(said, "KMP_HW_SUBSET"));
    CHECK_EQ(ask(self, "KMP_AFFINITY=none", "bind"), omp_proc_bind_false);
    CHECK_EQ(ask(self, "KMP_DUPLICATE_LIB_OK=TRUE", "region"), 2);
    CHECK_EQ(said[0], '\0');
    CHECK_EQ(ask(self, "KMP_FORKJOIN_BARRIER_PATTERN=hyper,hyper", "region"), 2);
    CHECK_EQ(said[0], '\0');
    static const char *const wrong[] = {"KMP_BLOCKTIME=soon",
                                        "KMP_STACKSIZE=large",
                                        "KMP_LIBRARY=city",
                                        "KMP_AFFINITY=here",
                                        "KMP_AFFINITY=explicit,proclist=[",
                                        "KMP_ALL_THREADS=0",
                                        "KMP_HW_SUBSET=all",
                                        "KMP_SETTINGS=perhaps",
                                        "KMP_DISP_NUM_BUFFERS=0"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(wrong[i], "="), wrong[i]);
        CHECK_EQ(ask(self, wrong[i], "region"), 2);
        CHECK(strstr(said, "OMP: Warning") && strstr(said, name));
    }
    char quiet[] = "KMP_WARNINGS=off";
    putenv(quiet);
    CHECK_EQ(ask(self, wrong[0], "region"), 2);
    CHECK_EQ(said[0], '\0');
    CHECK_EQ(ask(self, "KMP_HW_SUBSET=all", "region"), 2);
    CHECK_EQ(said[0], '\0');
    return 0;
}
