/* Device numbers, where the host is the only device.
 *
 * Number 0 is both "the number of devices" and the initial device. A program may name it, ask for
 * the default device, or name a device that does not exist. In the last case the host stands in,
 * unless OMP_TARGET_OFFLOAD=mandatory or omp_invalid_device forbids it. */
#ifndef CST_CORE_PROCESS_DEVICE_H
#define CST_CORE_PROCESS_DEVICE_H

#include "core/settings/icv.h"

#include <stdbool.h>

/* Does this number, an argument of an omp_* routine, mean the host? Else it is invalid: if the
 * program or the environment forbids that, the process ends with libgomp's message. */
bool cst_device_is_host(int device);

#endif
