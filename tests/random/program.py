"""A random OpenMP program, whose output depends on its seed and on the sizes of its teams only.

    program.py SEED > program.c

What its threads count, they count in an order that does not matter, or that OpenMP prescribes
(ordered, doacross, dependences). So two runtimes that give the teams the sizes asked for print the
same, and so do two compilers. Compiled once more with -DSECOND, by another compiler, and linked with
the first object, the work is done by both in turn, on the same locks. Compiled without OpenMP it prints
what one with teams of one thread does. MASTERS=N in the environment of the program lets N more threads do all of it at once; FORK=1
lets a child do it as well, and expects it to end.
"""
import random
import sys

SCHEDULES = ["", "schedule(static)", "schedule(static, 3)", "schedule(dynamic)", "schedule(dynamic, 4)",
             "schedule(guided)", "schedule(guided, 2)", "schedule(auto)", "schedule(runtime)",
             "schedule(nonmonotonic: dynamic)", "schedule(monotonic: dynamic, 2)",
             "schedule(nonmonotonic: guided)"]
ORDERED_SCHEDULES = ["", "schedule(static, 2)", "schedule(dynamic)", "schedule(dynamic, 3)",
                     "schedule(guided)", "schedule(runtime)"]
DOACROSS_SCHEDULES = ["", "schedule(static, 1)", "schedule(dynamic)", "schedule(dynamic, 2)"]
TASKS = ["", "if(0)", "if(1)", "final(0)", "final(1)", "untied", "mergeable", "priority(3)"]
TASKLOOPS = ["", "grainsize(3)", "num_tasks(4)", "nogroup", "grainsize(strict: 2)", "num_tasks(strict: 3)",
             "if(0)", "final(1)", "priority(2)"]
TEAMS = ["", "", "num_threads(1)", "num_threads(2)", "num_threads(3)", "num_threads(5)", "num_threads(8)",
         "if(0)", "if(1)", "proc_bind(close)", "proc_bind(spread) num_threads(3)"]
LENGTHS = [0, 1, 2, 3, 5, 8, 17, 40]
STATEMENTS_IN_A_REGION = 45
DEEPEST_REGION = 3

FRAME = """\
#ifdef _OPENMP
#include <omp.h>
#define UNLESS_ALONE
#else
typedef int omp_lock_t, omp_nest_lock_t;
#define omp_init_lock(lock) (void)(lock)
#define omp_set_lock(lock) (void)(lock)
#define omp_unset_lock(lock) (void)(lock)
#define omp_init_nest_lock(lock) (void)(lock)
#define omp_set_nest_lock(lock) (void)(lock)
#define omp_unset_nest_lock(lock) (void)(lock)
#define UNLESS_ALONE if (0)
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef SECOND
#define SHARED extern
#define work second_work
#else
#define SHARED
#endif

SHARED long total[%(counters)d];
SHARED long guarded;
SHARED omp_lock_t lock;
SHARED omp_nest_lock_t nest;

static void count(int counter, long amount) {
    __atomic_fetch_add(&total[counter], amount, __ATOMIC_RELAXED);
}

static void idle(int turns) {
    for (volatile int i = 0; i < turns; i++) {}
}

void work(void);
void work(void) {
%(body)s
}

#ifndef SECOND
extern void second_work(void) __attribute__((weak));

static void *master(void *unused) {
    for (int i = 0; i < %(rounds)d; i++) {
        work();
        if (second_work) second_work();
    }
    return unused;
}

static int number(const char *name) {
    return getenv(name) ? atoi(getenv(name)) : 0;
}

int main(void) {
    pthread_t others[8];
    int masters = number("MASTERS"), status = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    for (int i = 0; i < masters; i++) pthread_create(&others[i], NULL, master, NULL);
    master(NULL);
    for (int i = 0; i < masters; i++) pthread_join(others[i], NULL);
    if (number("FORK")) {
        pid_t child = fork();
        work();
        if (child == 0) _exit(0);
        if (waitpid(child, &status, 0) != child || status != 0) return 1;
    }
    for (int i = 0; i < %(counters)d; i++) printf("%%d %%ld\\n", i, total[i]);
    printf("guarded %%ld\\n", guarded);
    return 0;
}
#endif
"""


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.depth, self.counters, self.names, self.budget = [], 1, 0, 0, 0

    def text(self):
        for _ in range(self.random.randrange(2, 5)):
            self.budget = STATEMENTS_IN_A_REGION
            self.region(self.random.randrange(3, 6), 0)
            if self.one_in(3):
                self.budget = STATEMENTS_IN_A_REGION // 3
                self.statement(3, 0)
        return FRAME % {"counters": self.counters, "body": "\n".join(self.lines),
                        "rounds": self.random.choice([1, 3, 10])}

    # --- text

    def put(self, line):
        self.lines.append("    " * self.depth + line)

    def pragma(self, *words):
        self.put("#pragma omp " + " ".join(word for word in words if word))

    def pragma_of_gcc(self, words, otherwise=None):
        """What clang 14 does not know; `otherwise` counts the same."""
        self.lines.append("#ifndef __clang__")
        self.pragma(words)
        if otherwise:
            self.lines.append("#else")
            self.pragma(otherwise)
        self.lines.append("#endif")

    def block(self, *contents):
        """Each content is a line, or a function that puts some."""
        self.put("{")
        self.depth += 1
        for content in contents:
            self.put(content) if isinstance(content, str) else content()
        self.depth -= 1
        self.put("}")

    def counter(self):
        self.counters += 1
        return self.counters - 1

    def name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def one_in(self, chances):
        return self.random.randrange(chances) == 0

    def choice(self, choices):
        return self.random.choice(choices)

    def loop(self, variable):
        """No unsigned variable that counts down: GCC 12 passes its step as a large positive number."""
        length = self.choice(LENGTHS)
        return self.choice([f"for (int {variable} = 0; {variable} < {length}; {variable}++)",
                            f"for (long {variable} = {length}; {variable} > -2; {variable} -= 2)",
                            f"for (unsigned long long {variable} = ~0ull - {length}; {variable} < ~0ull; {variable}++)",
                            f"for (unsigned {variable} = 1; {variable} <= {length}; {variable}++)",
                            f"for (int {variable} = -5; {variable} <= {length}; {variable} += 3)"])

    # --- what one thread does: a task, an iteration, a section

    def leaf(self):
        def atomic():
            self.pragma("atomic")
            self.put(f"total[{self.counter()}] += 2;")

        def critical():
            self.pragma(self.choice(["critical", "critical(a)", "critical(b)"]))
            self.put(f"count({self.counter()}, 3);")

        def locked():
            self.put("omp_set_lock(&lock);")
            self.put("guarded++;")
            self.put("omp_unset_lock(&lock);")

        def nested():
            self.put("omp_set_nest_lock(&nest);")
            self.put("omp_set_nest_lock(&nest);")
            self.put(f"count({self.counter()}, 1);")
            self.put("omp_unset_nest_lock(&nest);")
            self.put("omp_unset_nest_lock(&nest);")

        def slow():
            self.put(f"idle({self.random.randrange(300)});")
            self.put(f"count({self.counter()}, 4);")

        self.choice([atomic, critical, locked, nested, slow])()

    def statements(self, depth, level):
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth, level)

    def statement(self, depth, level):
        """`level` parallel regions are around it."""
        self.budget -= 1
        if depth <= 0 or self.budget < 0:
            return self.leaf()

        def task():
            self.pragma("task", self.choice(TASKS))
            self.block(lambda: self.statements(depth - 1, level))

        def group():
            self.pragma("taskgroup")
            self.block(lambda: self.statements(depth - 1, level))

        def taskloop():
            clause = self.choice(TASKLOOPS)
            self.pragma_of_gcc("taskloop " + clause, "taskloop " + clause.replace("strict: ", ""))
            self.put(self.loop(self.name("i")))
            self.block(lambda: self.statements(depth - 2, level))

        kinds = [self.leaf, self.leaf, task, task, group, taskloop, self.dependences,
                 lambda: self.pragma("taskwait"), lambda: self.pragma("taskyield"),
                 lambda: self.region(depth - 1, level)]
        # GCC 12's libgomp frees memory that it did not allocate if there is no team.
        if level > 0:
            kinds += [self.task_reduction, self.taskloop_reduction]
        self.choice(kinds)()

    def dependences(self):
        cell = self.name("x")

        def task():
            first, second = self.random.sample(range(4), 2)
            kind = self.choice(["in", "out", "inout", "mutexinoutset"])
            other = self.choice(["", f"depend(in: {cell}[{second}])", f"depend(inout: {cell}[{second}])"])
            self.pragma(f"task depend({kind}: {cell}[{first}])", other, f"shared({cell})")
            change = {"in": f"count({self.counter()}, {cell}[{first}]);", "mutexinoutset": f"{cell}[{first}] += 5;"}
            self.block(change.get(kind, f"{cell}[{first}] = {cell}[{first}] * 3 + 1;"), self.leaf)

        def tasks():
            for _ in range(self.random.randrange(2, 7)):
                task()
            if self.one_in(2):
                self.pragma(f"taskwait depend(in: {cell}[1])")
            self.pragma("taskwait")

        self.block(f"unsigned {cell}[4] = {{0}};", tasks,
                   f"count({self.counter()}, {cell}[0] + 7 * {cell}[1] + 11 * {cell}[2] + 13 * {cell}[3]);")

    def task_reduction(self):
        total, i = self.name("sum"), self.name("i")

        def tasks():
            self.pragma(f"taskgroup task_reduction(+: {total})")
            self.put(f"for (int {i} = 0; {i} < {self.random.randrange(1, 6)}; {i}++)")
            self.pragma(f"task in_reduction(+: {total}) firstprivate({i})")
            self.put(f"{total} += {i} + 1;")

        self.block(f"long {total} = 0;", tasks, f"count({self.counter()}, {total});")

    def taskloop_reduction(self):
        total, i = self.name("sum"), self.name("i")

        def tasks():
            self.pragma(f"taskloop reduction(+: {total}) grainsize({self.random.randrange(1, 4)})")
            self.put(f"for (int {i} = 0; {i} < {self.random.randrange(30)}; {i}++) {total} += {i};")

        self.block(f"long {total} = 0;", tasks, f"count({self.counter()}, {total});")

    # --- what all threads of a team do

    def team(self, depth, level):
        for _ in range(self.random.randrange(1, 5)):
            self.team_statement(depth, level)

    def team_statement(self, depth, level):
        self.budget -= 1
        if depth <= 0 or self.budget < 0:
            return self.leaf()
        nowait = self.choice(["", "", "nowait"])

        def inner():
            self.statements(depth - 1, level)

        def loop():
            self.pragma("for", self.choice(SCHEDULES), nowait)
            self.put(self.loop(self.name("i")))
            self.block(inner)

        def collapsed():
            i, j = self.name("i"), self.name("i")
            self.pragma("for collapse(2)", self.choice(SCHEDULES), nowait)
            self.put(f"for (int {i} = 0; {i} < {self.random.randrange(6)}; {i}++)")
            self.put(f"for (int {j} = {self.random.randrange(9)}; {j} >= 0; {j} -= 2)")
            self.block(self.leaf)

        def sections():
            def section():
                self.pragma("section")
                self.block(inner)

            self.pragma("sections", nowait)
            self.block(*[section] * self.random.randrange(1, 6))

        def one():
            words = self.choice(["single", "single nowait", "master", "masked", "masked filter(1)"])
            self.pragma(words)
            if "filter" in words:
                self.block("UNLESS_ALONE", lambda: self.block(inner))
            else:
                self.block(inner)

        def scope():
            self.pragma_of_gcc(f"scope {nowait}")
            self.block(self.leaf)

        self.choice([self.leaf, lambda: self.pragma("barrier"), loop, loop, collapsed, sections, one, one,
                     self.copyprivate, self.ordered, self.doacross, lambda: self.statement(depth - 1, level),
                     lambda: self.region(depth - 1, level), scope])()

    def copyprivate(self):
        copy = self.name("copy")
        self.block(f"long {copy} = 0;", lambda: self.pragma(f"single copyprivate({copy})"),
                   f"{copy} = {self.random.randrange(1, 99)};", f"count({self.counter()}, {copy});")

    def in_order(self, loop):
        """A loop that changes one number of the team's, given its name."""
        cell = self.name("cell")

        def begin():
            self.pragma(f"single copyprivate({cell})")
            self.put(f"{cell} = calloc(1, sizeof *{cell});")

        def end():
            self.pragma("barrier")
            self.pragma("single")
            self.block(f"count({self.counter()}, *{cell});", f"free({cell});")

        self.block(f"unsigned long *{cell};", begin, lambda: loop(cell), end)

    def ordered(self):
        def loop(cell):
            def turn():
                if self.one_in(3):
                    self.put(f"if ({i} % 2)")
                self.block(lambda: self.pragma("ordered"), f"*{cell} = *{cell} * 31 + {i};")

            i = self.name("i")
            self.pragma("for ordered", self.choice(ORDERED_SCHEDULES), self.choice(["", "nowait"]))
            self.put(self.loop(i))
            self.block(self.leaf, turn)

        self.in_order(loop)

    def doacross(self):
        def loop(cell):
            i = self.name("i")
            self.pragma("for ordered(1)", self.choice(DOACROSS_SCHEDULES))
            self.put(f"for (int {i} = 1; {i} < {self.random.randrange(2, 20)}; {i}++)")
            self.block(lambda: self.pragma(f"ordered depend(sink: {i} - 1)"), f"*{cell} = *{cell} * 7 + {i};",
                       lambda: self.pragma("ordered depend(source)"))

        self.in_order(loop)

    # --- regions

    def region(self, depth, level):
        if level == DEEPEST_REGION:
            return self.leaf()
        clauses = self.choice(TEAMS)

        def combined():
            total, i = self.name("sum"), self.name("i")

            def loop():
                self.pragma("parallel for", clauses, self.choice(SCHEDULES), f"reduction(+: {total})")
                self.put(self.loop(i))
                self.block(f"{total}++;", lambda: self.statements(depth - 1, level + 1))

            self.block(f"long {total} = 0;", loop, f"count({self.counter()}, {total});")

        def one_producer():
            def single():
                self.pragma("single")
                self.block(lambda: self.statements(depth, level + 1))

            self.pragma("parallel", clauses)
            self.block(f"count({self.counter()}, 1);", single)

        def team():
            self.pragma("parallel", clauses)
            self.block(lambda: self.team(depth, level + 1))

        self.choice([combined, one_producer, team, team])()


if __name__ == "__main__":
    sys.stdout.write(Program(int(sys.argv[1])).text())
