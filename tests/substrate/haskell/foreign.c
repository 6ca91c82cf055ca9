/* A C program with Haskell linked in. It starts and ends the RTS itself, and has regions before,
 * during and after. hs_exit waits for foreign calls that Haskell made, so no sleeping worker may be
 * in such a call. */
#include "substrate/substrate.h"
#include "testing.h"

#include <HsFFI.h>
#include <errno.h>
#include <string.h>

void probe_init(int *argc, char ***argv);
int probe_collections(void);
const char *probe_start(void);
int probe_spawn(int count, long microseconds);
int probe_region(void);
void probe_leave(int count);
int probe_holds(void);
int probe_idle(void);

int main(int argc, char **argv) {
    test_limit(30);
    CHECK(cst_rts_is_host());
    const char *reason = NULL;
    const struct cst_substrate *rts = cst_rts_substrate(&reason);
    CHECK_EQ(rts->start(2, NULL, &reason), EAGAIN);
    CHECK(strstr(reason, "has not been started"));

    probe_init(&argc, &argv);
    CHECK_EQ(rts->start(2, NULL, &reason), 0);
    CHECK_EQ(probe_spawn(4, 0), 0);
    for (int i = 0; i < 100; i++) CHECK_EQ(probe_region(), 0);
    CHECK(!probe_holds());
    CHECK_EQ(probe_idle(), rts->capabilities());
    int before = probe_collections();
    hs_perform_gc();
    CHECK_EQ(probe_collections(), before + 1);
    hs_exit();

    CHECK_EQ(rts->start(2, NULL, &reason), ENOTSUP);
    CHECK(strstr(reason, "has ended"));
    for (unsigned i = 0; i < 4; i++) CHECK(!rts->haskell_runs(i));
    CHECK(!probe_holds());
    CHECK_EQ(probe_region(), 0);
    probe_leave(4 + 101);
    return 0;
}
