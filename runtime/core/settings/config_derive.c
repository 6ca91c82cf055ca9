/* Settings that follow from several variables together, once all are read; see config.h. */
#include "core/settings/config.h"

#include "core/base/message.h"
#include "core/settings/place.h"
#include "platform/platform.h"

#include <unistd.h>

/* OpenMP 5.2, section 21.2.7: if offloading is mandatory and there is no device, the default device
 * is invalid. */
static void choose_device(void) {
    if (cst_config.target_offload == CST_OFFLOAD_MANDATORY &&
        cst_config_state("OMP_DEFAULT_DEVICE") != CST_VARIABLE_ACCEPTED)
        cst_config.icv.default_device = CST_DEVICE_INVALID;
}

static void check_stack_size(void) {
    size_t given = cst_config.stack_size_given;
    if (cst_config_state("OMP_STACKSIZE") != CST_VARIABLE_ACCEPTED &&
        cst_config_state("GOMP_STACKSIZE") != CST_VARIABLE_ACCEPTED)
        return;
    long least = sysconf(_SC_THREAD_STACK_MIN);
    if (least > 0 && given < (size_t)least)
        cst_message_openmp("Stack size less than minimum of %luk",
                           (unsigned long)least / 1024 + (least % 1024 != 0));
    else
        cst_config.stack_size = given;
}

/* A list of places implies binding, and binding implies places. */
static void choose_binding(void) {
    if (cst_places.count > 0 && cst_config.icv.bind == CST_BIND_FALSE)
        cst_config.icv.bind = CST_BIND_TRUE;
    if (cst_config.icv.bind == CST_BIND_FALSE) return;
    if (cst_places.count == 0) cst_place_default();
    /* The program's first thread is bound to the first place from the start, so that the memory
     * that it touches first is near. */
    if (cst_thread_is_main() && !cst_config.bind_resets) cst_place_bind(1);
}

/* libgomp's numbers. They are shown, and bound the spinning if the user asks for it. */
static void choose_spin_count(void) {
    cst_config.spin_count_given = cst_config_state("GOMP_SPINCOUNT") == CST_VARIABLE_ACCEPTED;
    if (cst_config.spin_count_given) return;
    switch (cst_config.wait_policy) {
    case CST_WAIT_ACTIVE:
        cst_config.spin_count = 30000000000;
        break;
    case CST_WAIT_PASSIVE:
        cst_config.spin_count = 0;
        break;
    case CST_WAIT_DEFAULT:
        cst_config.spin_count = 300000;
        break;
    }
}

/* Runs at start, not at the first region: by then a program may have given up the right to read
 * files, or may call from a small stack. */
static void apply_quota(void) {
    cst_config.quota = cst_cpu_quota();
    if (!cst_config.quota || cst_config.quota >= cst_config.available) return;
    cst_config.available = cst_config.quota;
    if (cst_config.nthreads_source == CST_FROM_ENVIRONMENT) return;
    cst_config.icv.nthreads = cst_config.quota;
    cst_config.nthreads_source = CST_FROM_LIMITS;
}

void cst_config_derive(void) {
    apply_quota();
    choose_spin_count();
    choose_device();
    choose_binding();
    check_stack_size();
}
