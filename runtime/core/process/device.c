/* Device numbers, where the host is the only device; see device.h. */
#include "core/process/device.h"

#include "core/settings/config.h"
#include "core/base/message.h"
#include "core/state/thread.h"

static int default_device(void) {
    return cst_known_icv()->default_device;
}

/* The number is neither the host's nor an existing device's. */
static void refuse(int device) {
    bool mandatory = cst_config.target_offload == CST_OFFLOAD_MANDATORY;
    if (mandatory && device < 0)
        cst_message_openmp_fatal("OMP_TARGET_OFFLOAD is set to MANDATORY, "
                                 "but only the host device is available");
    if (device == CST_DEVICE_INVALID) cst_message_openmp_fatal("omp_invalid_device encountered");
    if (mandatory)
        cst_message_openmp_fatal("OMP_TARGET_OFFLOAD is set to MANDATORY, but device not found");
}

bool cst_device_is_host(int device) {
    if (device == CST_DEVICE_DEFAULT) device = default_device();
    if (device == CST_DEVICE_HOST || device == CST_DEVICE_INITIAL) return true;
    refuse(device);
    return false;
}
