/* Takes over libraries with pools of their own: as the runtime is loaded, and when the program
 * asks. */
#include "adopt/adopt.h"

#include "abi/whole.h"
#include "capstan.h"
#include "core/front.h"

CST_WHOLE(capstan_adopt);

unsigned capstan_adopt(const void *maker) {
    return cst_config.adopt == CST_ADOPT_NONE ? 0 : cst_adopt_look(maker);
}

__attribute__((constructor)) static void start(void) {
    cst_adopt_start();
}
