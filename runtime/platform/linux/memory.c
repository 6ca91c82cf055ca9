/* Memory in pages of its own: pinned, or placed on memory nodes. */
#include "platform/platform.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NODE_WORDS = 16 }; /* 1024 nodes, Linux's limit */

size_t cst_page_size(void) {
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

/* The policy is a wish: a kernel without nodes, or a sandbox, may refuse it. The call does not use
 * libnuma, for the reason that topology.c gives. */
static void advise(void *start, size_t size, int mode, const uint64_t *nodes) {
    syscall(SYS_mbind, start, size, mode, nodes, nodes ? (unsigned long)64 * NODE_WORDS : 0, 0);
}

/* Places one contiguous part on each node. */
static void advise_blocks(char *start, size_t size, const uint64_t *nodes, size_t page) {
    size_t count = 0, part;
    for (size_t i = 0; i < NODE_WORDS; i++) count += (size_t)cst_bits_set(nodes[i]);
    part = (size / page + count - 1) / count * page;
    for (size_t node = 0; node < (size_t)64 * NODE_WORDS && size > 0; node++) {
        if (!(nodes[node / 64] >> node % 64 & 1)) continue;
        uint64_t one[NODE_WORDS] = {0};
        one[node / 64] = (uint64_t)1 << node % 64;
        size_t here = part < size ? part : size;
        advise(start, here, MPOL_PREFERRED, one);
        start += here;
        size -= here;
    }
}

static void apply(void *start, size_t size, enum cst_page_policy policy, size_t page) {
    uint64_t nodes[NODE_WORDS], some = 0;
    if (policy == CST_PAGES_ANYWHERE) return;
    if (policy == CST_PAGES_NEAREST) {
        advise(start, size, MPOL_PREFERRED, NULL); /* NULL: the caller's node */
        return;
    }
    if (!cst_topology_nodes("", nodes, NODE_WORDS)) return;
    for (size_t i = 0; i < NODE_WORDS; i++) some |= nodes[i];
    if (!some) return;
    if (policy == CST_PAGES_INTERLEAVED)
        advise(start, size, MPOL_INTERLEAVE, nodes);
    else
        advise_blocks(start, size, nodes, page);
}

void *cst_pages_get(size_t size, bool pinned, enum cst_page_policy policy, size_t *granted) {
    int saved = errno;
    size_t page = cst_page_size(), whole = (size + page - 1) / page * page;
    void *start = whole < size ? MAP_FAILED
                               : mmap(NULL, whole, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start != MAP_FAILED) {
        apply(start, whole, policy, page);
        if (pinned && mlock(start, whole) != 0) {
            munmap(start, whole);
            start = MAP_FAILED;
        }
    }
    errno = saved;
    if (start == MAP_FAILED) return NULL;
    *granted = whole;
    return start;
}

void cst_pages_free(void *start, size_t granted) {
    int saved = errno;
    munmap(start, granted);
    errno = saved;
}

void cst_pages_prefer_large(void *start, size_t size) {
    int saved = errno;
    size_t page = cst_page_size(), skip = (page - (uintptr_t)start % page) % page;
    if (size > skip) madvise((char *)start + skip, (size - skip) / page * page, MADV_HUGEPAGE);
    errno = saved;
}
