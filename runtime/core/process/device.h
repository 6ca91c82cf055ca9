/* Device numbers, when the host is the only device.
 *
 * Number 0 is both "the number of devices" and the initial device. A program may name it, ask for
 * the default device, or name a device that does not exist: then the host stands in, unless
 * OMP_TARGET_OFFLOAD=mandatory or omp_invalid_device forbids it. */
#ifndef CST_CORE_PROCESS_DEVICE_H
#define CST_CORE_PROCESS_DEVICE_H

#include "core/settings/icv.h"

#include <stdbool.h>

/* Does this number, given to an omp_* routine, mean the host? Else it is invalid; the process ends
 * with libgomp's message when the program or the environment forbids that. */
bool cst_device_is_host(int device);

#endif
