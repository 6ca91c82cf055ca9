/* uring.c: the bare loop, with io_uring to report the ready pipes: one multishot poll for each
 * pipe, and one system call for each batch. The statements of docs/adr about io_uring rest on this
 * program. */
#include "contender.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { SUBMISSIONS = 256, COMPLETIONS = 32768 };

struct ring {
    struct pipes *pipes;
    int fd;
    unsigned *sq_tail, *sq_mask, *cq_head, *cq_tail, *cq_mask;
    struct io_uring_sqe *sqe;
    struct io_uring_cqe *cqe;
    void *rings;
    size_t rings_size, sqe_size;
};

static int enter(const struct ring *ring, unsigned submit, unsigned wait) {
    return (int)syscall(SYS_io_uring_enter, ring->fd, submit, wait, IORING_ENTER_GETEVENTS, NULL,
                        0);
}

static void watch(struct ring *ring, int index) {
    unsigned tail = *ring->sq_tail;
    struct io_uring_sqe *sqe = &ring->sqe[tail & *ring->sq_mask];
    memset(sqe, 0, sizeof *sqe);
    sqe->opcode = IORING_OP_POLL_ADD;
    sqe->fd = ring->pipes->end[index][0];
    sqe->poll32_events = POLLIN;
    sqe->len = IORING_POLL_ADD_MULTI;
    sqe->user_data = (uint64_t)index;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE); /* the kernel reads it */
    need(enter(ring, 1, 0) == 1, "io_uring_enter");
}

static void *open_ring(struct pipes *pipes) {
    struct ring *ring = calloc(1, sizeof *ring);
    struct io_uring_params params = {.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER |
                                              IORING_SETUP_DEFER_TASKRUN,
                                     .cq_entries = COMPLETIONS};
    need(ring != NULL, "memory");
    ring->pipes = pipes;
    ring->fd = (int)syscall(SYS_io_uring_setup, SUBMISSIONS, &params);
    need(ring->fd >= 0, "io_uring_setup");
    ring->rings_size = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t other = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    if (other > ring->rings_size) ring->rings_size = other;
    ring->sqe_size = params.sq_entries * sizeof(struct io_uring_sqe);
    char *base = mmap(NULL, ring->rings_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                      ring->fd, IORING_OFF_SQ_RING);
    ring->sqe = mmap(NULL, ring->sqe_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                     ring->fd, IORING_OFF_SQES);
    need(base != MAP_FAILED && (void *)ring->sqe != MAP_FAILED, "mmap");
    ring->rings = base;
    ring->sq_tail = (unsigned *)(void *)(base + params.sq_off.tail);
    ring->sq_mask = (unsigned *)(void *)(base + params.sq_off.ring_mask);
    ring->cq_head = (unsigned *)(void *)(base + params.cq_off.head);
    ring->cq_tail = (unsigned *)(void *)(base + params.cq_off.tail);
    ring->cq_mask = (unsigned *)(void *)(base + params.cq_off.ring_mask);
    ring->cqe = (struct io_uring_cqe *)(void *)(base + params.cq_off.cqes);
    unsigned *array = (unsigned *)(void *)(base + params.sq_off.array);
    for (unsigned i = 0; i < params.sq_entries; i++) array[i] = i;
    for (int i = 0; i < pipes->count; i++) watch(ring, i);
    return ring;
}

static void run(void *loop) {
    struct ring *ring = loop;
    while (ring->pipes->left > 0) {
        need(enter(ring, 0, 1) >= 0 || errno == EINTR, "io_uring_enter");
        unsigned head = *ring->cq_head;
        unsigned tail = __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE); /* the kernel wrote it */
        for (; head != tail; head++) {
            const struct io_uring_cqe *cqe = &ring->cqe[head & *ring->cq_mask];
            int index = (int)cqe->user_data;
            if (!(cqe->flags & IORING_CQE_F_MORE)) watch(ring, index); /* the poll has ended */
            pass_on(ring->pipes, index);
        }
        __atomic_store_n(ring->cq_head, head, __ATOMIC_RELEASE); /* the kernel may reuse them */
    }
}

static void shut(void *loop) {
    struct ring *ring = loop;
    munmap(ring->sqe, ring->sqe_size);
    munmap(ring->rings, ring->rings_size);
    close(ring->fd);
    free(ring);
}

const struct contender io_uring = {"uring", false, open_ring, run, shut};
