/* omp_capture_affinity and the format: each field, its widths, short buffers, and the format of
 * OMP_AFFINITY_FORMAT.
 *
 * test: env OMP_AFFINITY_FORMAT=%n/%N
 * test: env OMP_AFFINITY_FORMAT=%n/%N OMP_PLACES={0}
 */
#include "testing.h"

#include <omp.h>
#include <string.h>

static void captured(const char *format, const char *expected) {
    char text[256];
    size_t length = omp_capture_affinity(text, sizeof text, format);
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "%s gives \"%s\", not \"%s\"\n", format, text, expected);
        _exit(1);
    }
    CHECK_EQ(length, strlen(expected));
}

static void outside(void) {
    char text[64];
    captured("plain", "plain");
    captured("100%%", "100%");
    captured("%L %n %N %a %t %T", "0 0 1 -1 0 1");
    captured("%{nesting_level}|%{thread_num}|%{num_threads}|%{ancestor_tnum}", "0|0|1|-1");
    captured("%{team_num}|%{num_teams}", "0|1");
    captured("[%5n]", "[0    ]");
    captured("[%.5n]", "[    0]");
    captured("[%0.5n]", "[00000]");
    captured("[%0.5a]", "[-0001]");
    captured("[%1n]", "[0]");
    CHECK_EQ(omp_capture_affinity(text, sizeof text, "%1024n%.1024n"), 2048);
    snprintf(text, sizeof text, "[%08d]", (int)getpid());
    captured("[%0.8P]", text);
    snprintf(text, sizeof text, "%d", (int)getpid());
    captured("%{process_id}", text);
    gethostname(text, sizeof text);
    captured("%H", text);
    omp_capture_affinity(text, sizeof text, "%i");
    CHECK(strncmp(text, "0x", 2) == 0);
    if (getenv("OMP_PLACES")) {
        CHECK_EQ(omp_get_place_num(), 0); /* this call binds the thread, if it is not bound yet */
        captured("%A", "0");
        captured("[%4A]", "[0   ]");
        captured("[%.4A]", "[   0]");
    } else {
        CHECK(omp_capture_affinity(text, sizeof text, "%A") > 0);
    }
}

static void short_buffers(void) {
    char text[8] = "xxxxxxx";
    CHECK_EQ(omp_capture_affinity(NULL, 0, "abc%n"), 4);
    CHECK_EQ(omp_capture_affinity(text, 3, "abc%n"), 4);
    CHECK(strcmp(text, "ab") == 0);
    CHECK(text[3] == 'x');
    CHECK_EQ(omp_capture_affinity(text, 4, "abc%n"), 4);
    CHECK(strcmp(text, "abc") == 0);
    CHECK_EQ(omp_capture_affinity(text, 5, "abc%n"), 4);
    CHECK(strcmp(text, "abc0") == 0);
}

static void the_format(void) {
    char text[64];
    CHECK_EQ(omp_get_affinity_format(text, sizeof text), 5);
    CHECK(strcmp(text, "%n/%N") == 0);
    captured(NULL, "0/1");
    captured("", "0/1");
    omp_set_affinity_format("a rather long one: %n of %N");
    CHECK_EQ(omp_get_affinity_format(NULL, 0), 27);
    CHECK_EQ(omp_get_affinity_format(text, 5), 27);
    CHECK(strcmp(text, "a ra") == 0);
    captured(NULL, "a rather long one: 0 of 1");
    omp_set_affinity_format("%n/%N");
    captured(NULL, "0/1");
}

static void inside(void) {
#pragma omp parallel num_threads(3)
    {
        char text[32], expected[32];
        omp_capture_affinity(text, sizeof text, NULL);
        snprintf(expected, sizeof expected, "%d/3", omp_get_thread_num());
        CHECK(strcmp(text, expected) == 0);
        int outer = omp_get_thread_num();
        omp_capture_affinity(text, sizeof text, "%L %a");
        CHECK(strcmp(text, "1 0") == 0);
#pragma omp parallel num_threads(2)
        {
            char inner[32], wanted[32];
            omp_capture_affinity(inner, sizeof inner, "%L %a");
            snprintf(wanted, sizeof wanted, "2 %d", outer);
            CHECK(strcmp(inner, wanted) == 0);
        }
    }
}

int main(void) {
    test_limit(30);
    outside();
    short_buffers();
    the_format();
    inside();
    return 0;
}
