/* Device numbers, when the host is the only device.
 *
 * Number 0 is both "the number of devices" and the initial device. A program may name it, ask for
 * the default device, or name a device that does not exist: then the host stands in, unless
 * OMP_TARGET_OFFLOAD=mandatory or omp_invalid_device forbids it. */
#ifndef CST_CORE_PROCESS_DEVICE_H
#define CST_CORE_PROCESS_DEVICE_H

#include <stdbool.h>

/* As a program writes them (OpenMP 6.1, section 8.1; values are GCC's). */
enum {
    CST_DEVICE_HOST = 0, /* equals the number of devices */
    CST_DEVICE_INITIAL = -1,
    CST_DEVICE_INVALID = -4,
    CST_DEVICE_DEFAULT = -5,
};

/* Does this number, given to an omp_* routine, mean the host? Else it is invalid; the process ends
 * with libgomp's message when the program or the environment forbids that. */
bool cst_device_is_host(int device);

/* The same check for a construct, whose numbers GCC shifts: -1 is the default device, -2 the
 * initial device, below that one less than was written. Returns if the host may stand in. */
void cst_device_check_construct(int device);

#endif
