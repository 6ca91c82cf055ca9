/* The kernel's struct sched_attr, as the kernel's header and the C library's exclude each other. */
#ifndef CST_PLATFORM_LINUX_ATTRIBUTES_H
#define CST_PLATFORM_LINUX_ATTRIBUTES_H

#include <stdint.h>

struct cst_sched_attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

#endif
