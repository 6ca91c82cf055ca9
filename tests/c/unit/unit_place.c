/* core/settings/place.h and core/settings/place_list.c: the grammar of places on invented machines,
 * and the places of a team's members. */
#include "tree.h"

#include "core/settings/place.h"
#include "core/settings/subset.h"

#include <fcntl.h>

static uint64_t available[2];
static struct cst_place_source source = {.available = available, .words = 1, .root = ""};
static struct cst_place_table table;
static int silent_stderr = -1;

/* --- helpers ------------------------------------------------------------------------------ */

/* Hides the messages: another test compares them, and this one checks the tables. */
static void hush(void) {
    fflush(stderr);
    silent_stderr = dup(2);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    close(null);
}

static void unhush(void) {
    fflush(stderr);
    dup2(silent_stderr, 2);
    close(silent_stderr);
}

static void machine(uint64_t processors) {
    available[0] = processors;
    source.words = 1;
    source.root = "";
}

/* The table as text: {0,2-3},{4}. */
static const char *shown(void) {
    static char text[4096];
    char *at = text;
    *at = '\0';
    for (uint32_t i = 0; i < table.count; i++) {
        *at++ = '{';
        at += cst_mask_format(cst_place_mask(&table, i), table.words, false, at, 200);
        *at++ = '}';
    }
    *at = '\0';
    return text;
}

static void places(const char *text, const char *expected) {
    table = (struct cst_place_table){0, 0, NULL};
    hush();
    bool good = cst_place_parse(text, &source, &table);
    bool form = cst_place_parse(text, NULL, NULL);
    unhush();
    if (!good) table.count = 0;
    const char *found = good ? shown() : "wrong";
    if (strcmp(found, expected) != 0) UNIT_STOP("%s: %s, expected %s", text, found, expected);
    if (good && !form) UNIT_STOP("%s: built, but its form is refused", text);
    free(table.masks);
}

static void processors(const char *text, const char *expected) {
    table = (struct cst_place_table){0, 0, NULL};
    hush();
    bool good = cst_place_parse_processors(text, &source, &table);
    unhush();
    const char *found = good ? shown() : "wrong";
    if (strcmp(found, expected) != 0) UNIT_STOP("%s: %s, expected %s", text, found, expected);
    free(table.masks);
}

/* --- lists -------------------------------------------------------------------------------- */

static void explicit_lists(void) {
    machine(0xff);
    places("{0},{1}", "{0}{1}");
    places("0,1", "{0}{1}");
    places("{0,1},{2,3}", "{0-1}{2-3}");
    places(" { 0 , 1 } , 2 ", "{0-1}{2}");
    places("{0:4},{4:4}", "{0-3}{4-7}");
    places("{0:4:2}", "{0,2,4,6}");
    places("{6:3:-2}", "{2,4,6}");
    places("{0:2,7}", "{0-1,7}");
}

static void repeated_places(void) {
    machine(0xff);
    places("{0}:8", "{0}{1}{2}{3}{4}{5}{6}{7}");
    places("{7,6}:2:-3", "{6-7}{3-4}");
    places("{0,1}:4:2", "{0-1}{2-3}{4-5}{6-7}");
    places("2:3", "{2}{3}{4}");
    places("7:3:-2", "{7}{5}{3}");
}

static void negation(void) {
    machine(0xff);
    places("{0:8,!3}", "{0-2,4-7}");
    places("{!3,0:8}", "{0-2,4-7}");
    places("{6,7}:4:-2,!{2,3}", "{6-7}{4-5}{0-1}");
    places("{0},{1},!{0}", "{1}");
    places("1,2,{2,3,!2},3,3,!3,!{5:3:-1,!4,!5},{4},5,!4,!5,1:2,!{1},!2,7:3:-2,!{5},!7,!3",
           "{1}{2}{3}");
    places("{0},!{0}", "wrong");
    places("{0},!{1}", "wrong");
    places("{0,!1}", "wrong");
}

static void wrong_lists(void) {
    machine(0xff);
    const char *const texts[] = {"",
                                 " ",
                                 "{",
                                 "{0",
                                 "{0}}",
                                 "{0},",
                                 ",{0}",
                                 "{}",
                                 "{0:0}",
                                 "{0}:0",
                                 "{0}:x",
                                 "{0}x",
                                 "!{0}:2",
                                 "{!0:2}",
                                 "{0 1}",
                                 "{0}:65536",
                                 "{-1}",
                                 "{x}",
                                 "{64}",
                                 "{0:70}",
                                 "{0}:70",
                                 "{0}:2:-1",
                                 "{0:2:}",
                                 "foo",
                                 "core",
                                 "cores(",
                                 "cores()",
                                 "cores(1",
                                 "cores(1)x",
                                 "cores(x)",
                                 "{1}:2:100000000000000000000",
                                 "{0:18446744073709551615:0}",
                                 "{0:18446744073709551615}",
                                 "{0:8193:0}",
                                 "{0}:8193:0",
                                 "{0:100,!8:8193}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) places(texts[i], "wrong");
}

/* An interval may have as many processors as an affinity mask can name, even if it names the same
 * processor each time. */
static void longest_intervals(void) {
    machine(0xff);
    places("{0:8192:0}", "{0}");
    table = (struct cst_place_table){0, 0, NULL};
    UNIT_CHECK(cst_place_parse("{0}:8192:0", &source, &table));
    UNIT_EQUAL(table.count, 8192);
    free(table.masks);
}

/* Places are cut to the processors that the process may use, and empty places are removed. */
static void only_what_is_available(void) {
    machine(0x0f);
    places("{0:8}", "{0-3}");
    places("{2:4},{6,7}", "{2-3}");
    places("{6,7}", "wrong");
    machine((uint64_t)1 << 63 | 1);
    places("{0},{63}", "{0}{63}");
    places("{0},{1}", "{0}");
}

static void gomp_cpu_affinity(void) {
    machine(0xff);
    processors("0 3 1-2 4-7:2", "{0}{3}{1}{2}{4}{6}");
    processors("3,1", "{3}{1}");
    processors(" 0x3 , 010 ", "{3}{8}");
    processors("1 99 2", "{1}{2}");
    processors("99", "wrong");
    processors("1-0", "wrong");
    processors("1-3:0", "wrong");
    processors("1,", "wrong");
    processors("", "wrong");
    processors("x", "wrong");
    processors("65536", "wrong");
    processors("0-65535:65535", "{0}");
    processors("18446744073709551616", "wrong");
    char many[200] = "";
    for (int i = 0; i < 9; i++) strcat(many, "0-65535 "); /* nine times 8192 places */
    strcat(many, "0");
    processors(many, "wrong");
}

/* --- levels ------------------------------------------------------------------------------- */

/* Eight processors with the numbers of most two-socket machines. The numbers of a core's threads
 * differ by four. Cores 0 and 1 are in socket 0, and 2 and 3 in socket 1; each socket has a cache.
 * The nodes are 0 and 2. */
static void two_sockets(void) {
    tree_make();
    for (int i = 0; i < 8; i++) {
        char path[128], text[64];
        int core = i % 4, socket = core / 2;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 i);
        snprintf(text, sizeof text, "%d,%d\n", core, core + 4);
        put(path, text);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/core_siblings_list", i);
        snprintf(text, sizeof text, "%d-%d,%d-%d\n", 2 * socket, 2 * socket + 1, 2 * socket + 4,
                 2 * socket + 5);
        put(path, text);
        for (int index = 0; index < 4; index++) {
            static const int levels[] = {1, 1, 2, 3};
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", i,
                     index);
            char level[8];
            snprintf(level, sizeof level, "%d\n", levels[index]);
            put(path, level);
            snprintf(path, sizeof path,
                     "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", i, index);
            put(path, index == 3 ? text : "0\n");
        }
    }
    put("/sys/devices/system/node/online", "0,2\n");
    put("/sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
    put("/sys/devices/system/node/node2/cpulist", "2-3,6-7\n");
    machine(0xff);
    source.root = root;
}

static void levels(void) {
    two_sockets();
    places("threads", "{0}{4}{1}{5}{2}{6}{3}{7}");
    places("threads(3)", "{0}{4}{1}");
    places("cores", "{0,4}{1,5}{2,6}{3,7}");
    places(" cores ( 2 ) ", "{0,4}{1,5}");
    places("CORES(99)", "{0,4}{1,5}{2,6}{3,7}");
    places("sockets", "{0-1,4-5}{2-3,6-7}");
    places("ll_caches", "{0-1,4-5}{2-3,6-7}");
    places("numa_domains", "{0-1,4-5}{2-3,6-7}");
    places("numa_domains(1)", "{0-1,4-5}");
    places("cores(0)", "wrong");
    tree_remove();
}

static void levels_of_a_part(void) {
    two_sockets();
    available[0] = 0x5a; /* 1, 3, 4, 6 */
    places("threads", "{1}{3}{4}{6}");
    places("cores", "{1}{3}{4}{6}");
    available[0] = 0x72; /* 1, 4, 5, 6 */
    places("threads", "{1}{5}{4}{6}");
    places("sockets", "{1,4-5}{6}");
    places("numa_domains", "{1,4-5}{6}");
    tree_remove();
}

/* The places that KMP_HW_SUBSET leaves on this machine. */
static void subset(const char *text, const char *expected) {
    uint64_t chosen[2];
    char shown[64] = "too large";
    enum cst_subset_result result = cst_subset_choose(text, &source, chosen);
    if (result == CST_SUBSET_CHOSEN)
        cst_mask_format(chosen, source.words, false, shown, sizeof shown);
    if (result == CST_SUBSET_MALFORMED) strcpy(shown, "wrong");
    if (strcmp(shown, expected) != 0) UNIT_STOP("%s: %s, expected %s", text, shown, expected);
}

static void subsets(void) {
    two_sockets();
    subset("1s", "0-1,4-5");
    subset("1s@1", "2-3,6-7");
    subset("2s,1c", "0,2,4,6");
    subset("1c", "0,4");
    subset("2c@1", "1-2,5-6");
    subset("1t", "0");
    subset("*c,1t", "0-3");
    subset("1T,*Core", "0-3");
    subset("1t@1 , 2 sockets , 1 cores@1", "5,7");
    subset(":1numa@1,1t", "2");
    subset("1l3", "0-1,4-5");
    subset("1ll_cache@1,1c@1,1thread", "3");
    available[0] = 0x5a; /* 1, 3, 4, 6 */
    subset("1s", "1,4");
    subset("4c", "1,3-4,6");
    subset("1s,3c", "too large");
    subset("3s", "too large");
    subset("1s@2", "too large");
    subset("*c@4", "too large");
    subset("2t", "1,3");
    static const char *const wrong[] = {"",    "1",  "c",     "0c",  "1c,",  "1c,2c",
                                        "1c@", "1d", "1c 2t", "-1c", "1c@-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) subset(wrong[i], "wrong");
    tree_remove();
}

/* Files with a text that the kernel never writes are ignored: the parser does not guess. */
static void nonsense_in_files(void) {
    two_sockets();
    const char *const texts[] = {"0--1\n", "-1\n",   " 0\n",  "0-\n",
                                 "3-2\n",  "0,,1\n", "0:1\n", "\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (int cpu = 0; cpu < 8; cpu++) {
            char path[128];
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/core_siblings_list",
                     cpu);
            put(path, texts[i]);
        }
        places("sockets", "wrong");
    }
    tree_remove();
}

/* Without /sys only the hardware threads are known. */
static void no_topology(void) {
    machine(0x07);
    source.root = "/nowhere";
    places("threads", "{0}{1}{2}");
    places("cores", "wrong");
    places("sockets", "wrong");
    places("ll_caches", "wrong");
    places("numa_domains", "wrong");
}

/* --- members ------------------------------------------------------------------------------ */

/* The team's bindings as text: place(first+length), places counted from 0. */
static void members(enum cst_bind bind, uint32_t size, struct cst_binding master,
                    const char *expected) {
    char text[1024], *at = text;
    for (uint32_t i = 0; i < size; i++) {
        struct cst_binding member = cst_place_assign(&master, bind, size, i);
        at +=
            sprintf(at, "%s%u(%u+%u)", i ? " " : "", member.place - 1, member.first, member.length);
    }
    if (strcmp(text, expected) != 0) UNIT_STOP("%s, expected %s", text, expected);
}

static void primary(void) {
    members(CST_BIND_PRIMARY, 3, (struct cst_binding){3, 0, 8}, "2(0+8) 2(0+8) 2(0+8)");
}

static void close_places(void) {
    members(CST_BIND_CLOSE, 4, (struct cst_binding){1, 0, 8}, "0(0+8) 1(0+8) 2(0+8) 3(0+8)");
    members(CST_BIND_CLOSE, 4, (struct cst_binding){7, 0, 8}, "6(0+8) 7(0+8) 0(0+8) 1(0+8)");
    members(CST_BIND_CLOSE, 3, (struct cst_binding){6, 4, 2}, "5(4+2) 4(4+2) 5(4+2)");
    members(CST_BIND_TRUE, 2, (struct cst_binding){1, 0, 8}, "0(0+8) 1(0+8)");
}

/* With more threads than places each place gets the same number, and the rest go one by one to the
 * places from the master's on. */
static void close_crowded(void) {
    members(CST_BIND_CLOSE, 8, (struct cst_binding){1, 0, 3},
            "0(0+3) 0(0+3) 1(0+3) 1(0+3) 2(0+3) 2(0+3) 0(0+3) 1(0+3)");
    members(CST_BIND_CLOSE, 5, (struct cst_binding){2, 0, 2}, "1(0+2) 1(0+2) 0(0+2) 0(0+2) 1(0+2)");
}

static void spread_places(void) {
    members(CST_BIND_SPREAD, 4, (struct cst_binding){1, 0, 8}, "0(0+2) 2(2+2) 4(4+2) 6(6+2)");
    members(CST_BIND_SPREAD, 3, (struct cst_binding){1, 0, 8}, "0(0+3) 3(3+3) 6(6+2)");
    /* The master keeps its place, within its part of the partition. */
    members(CST_BIND_SPREAD, 3, (struct cst_binding){5, 0, 8}, "4(3+3) 6(6+2) 0(0+3)");
    members(CST_BIND_SPREAD, 3, (struct cst_binding){8, 0, 8}, "7(6+2) 0(0+3) 3(3+3)");
    members(CST_BIND_SPREAD, 2, (struct cst_binding){5, 4, 3}, "4(4+2) 6(6+1)");
    members(CST_BIND_SPREAD, 8, (struct cst_binding){2, 0, 8},
            "1(1+1) 2(2+1) 3(3+1) 4(4+1) 5(5+1) 6(6+1) 7(7+1) 0(0+1)");
}

static void spread_crowded(void) {
    members(CST_BIND_SPREAD, 5, (struct cst_binding){1, 0, 2},
            "0(0+1) 0(0+1) 1(1+1) 1(1+1) 0(0+1)");
}

static void one_member_and_no_places(void) {
    members(CST_BIND_SPREAD, 1, (struct cst_binding){3, 0, 8}, "2(0+8)");
    struct cst_binding none = {0, 0, 0};
    struct cst_binding member = cst_place_assign(&none, CST_BIND_SPREAD, 4, 2);
    UNIT_EQUAL(member.place, 0);
    UNIT_EQUAL(member.length, 0);
}

/* For any team, each place lies within the partition, and the load is even. */
static void any_team_is_even(void) {
    for (uint32_t length = 1; length <= 9; length++)
        for (uint32_t size = 1; size <= 20; size++)
            for (uint32_t at = 0; at < length; at++)
                for (int bind = CST_BIND_CLOSE; bind <= CST_BIND_SPREAD; bind++) {
                    struct cst_binding master = {5 + at + 1, 5, length};
                    uint32_t load[9] = {0};
                    for (uint32_t i = 0; i < size; i++) {
                        struct cst_binding member =
                            cst_place_assign(&master, (enum cst_bind)bind, size, i);
                        uint32_t place = member.place - 1;
                        UNIT_CHECK(place >= member.first);
                        UNIT_CHECK(place < member.first + member.length);
                        UNIT_CHECK(place >= 5 && place < 5 + length);
                        if (i == 0) UNIT_EQUAL(place, 5 + at);
                        load[place - 5]++;
                    }
                    for (uint32_t i = 0; i < length; i++) {
                        UNIT_CHECK(load[i] >= size / length);
                        UNIT_CHECK(load[i] <= (size + length - 1) / length);
                    }
                }
}

static void masks_as_text(void) {
    char text[64];
    uint64_t mask[2] = {0x8000000000000003, 0x1};
    UNIT_EQUAL(cst_mask_format(mask, 2, false, text, sizeof text), 9);
    UNIT_TEXT(text, "0-1,63-64");
    cst_mask_format(mask, 2, true, text, sizeof text);
    UNIT_TEXT(text, "0:2,63:2");
    UNIT_EQUAL(cst_mask_format(mask, 2, false, text, 4), 9);
    UNIT_TEXT(text, "0-1");
    UNIT_EQUAL(cst_mask_format(mask, 2, false, NULL, 0), 9);
}

int main(void) {
    unit_limit(60);
    UNIT_RUN(explicit_lists);
    UNIT_RUN(repeated_places);
    UNIT_RUN(negation);
    UNIT_RUN(wrong_lists);
    UNIT_RUN(longest_intervals);
    UNIT_RUN(only_what_is_available);
    UNIT_RUN(gomp_cpu_affinity);
    UNIT_RUN(levels);
    UNIT_RUN(levels_of_a_part);
    UNIT_RUN(subsets);
    UNIT_RUN(nonsense_in_files);
    UNIT_RUN(no_topology);
    UNIT_RUN(primary);
    UNIT_RUN(close_places);
    UNIT_RUN(close_crowded);
    UNIT_RUN(spread_places);
    UNIT_RUN(spread_crowded);
    UNIT_RUN(one_member_and_no_places);
    UNIT_RUN(any_team_is_even);
    UNIT_RUN(masks_as_text);
    return unit_result();
}
