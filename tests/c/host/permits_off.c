/* Without CAPSTAN_ADOPT, or if it does not name oneTBB, no pool gets a permit: a pool chooses its
 * size as usual.
 *
 * test: env CAPSTAN_ADOPT=
 * test: env CAPSTAN_ADOPT=openblas,fftw
 * test: flags -ldl
 * test: not check the library is looked for by its name
 * test: not qemu the file of names is made for this machine alone
 * test: not stock GCC's runtime gives no permits
 */
#include "tcm.h"

static int told(handle permit, void *argument, uint32_t flags) {
    (void)permit, (void)argument, (void)flags;
    return 0;
}

int main(void) {
    test_limit(20);
    uint64_t client = 0;
    char text[200] = "";
    tcm_open();
    CHECK_EQ(tcm.connect(told, &client), TCM_UNKNOWN);
    CHECK_EQ(tcm.version(text, sizeof text), TCM_SUCCESS);
    CHECK(strstr(text, "off") != NULL);
    return 0;
}
