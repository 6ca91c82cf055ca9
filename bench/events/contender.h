/* contender.h: the interface of an event loop that takes part.
 *
 * N pipes, each with one byte in flight. When a pipe is readable, its byte is read and written
 * again: one message. Each loop watches all read ends, persistently. With timeouts, each message
 * also cancels its pipe's timeout and starts a new timeout, beside a million other live timers in
 * the same loop. */
#ifndef CONTENDER_H
#define CONTENDER_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

enum { BACKGROUND_TIMERS = 1000000 };
#define TIMEOUT_NS (UINT64_C(30) * 1000000000)

struct pipes {
    int count;
    int (*end)[2];
    long left;     /* messages to go */
    bool timeouts; /* each message has a timeout */
};

/* The work of every loop for every message. */
static inline void pass_on(struct pipes *pipes, int index) {
    char byte;
    ssize_t got = read(pipes->end[index][0], &byte, 1);
    ssize_t put = write(pipes->end[index][1], &byte, 1);
    if (got == 1 && put == 1) pipes->left--;
}

struct contender {
    const char *name;
    bool timeouts; /* the loop can run the case with timeouts */
    void *(*open)(struct pipes *pipes);
    /* Passes messages until pipes->left is 0 or less. */
    void (*run)(void *loop);
    void (*close)(void *loop);
};

extern const struct contender bare_level, bare_threads, bare_edge, capstan_level, capstan_edge,
    libuv_poll, libevent_level, libevent_edge, io_uring;

/* Deadlines of the timers in the background: spread over an hour, the same for every loop. */
uint64_t background_delay(int index);

/* Ends the program when a call fails. */
void need(bool done, const char *what);

#endif
