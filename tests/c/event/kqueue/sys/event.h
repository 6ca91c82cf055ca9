/* The interface of kqueue, as its manual pages document it (FreeBSD kqueue(2)), to compile the back
 * end on a system without it. The values are FreeBSD's; the back end may rely on none of them. */
#ifndef STAND_IN_SYS_EVENT_H
#define STAND_IN_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

struct kevent {
    uintptr_t ident;
    short filter;
    unsigned short flags;
    unsigned int fflags;
    int64_t data;
    void *udata;
    uint64_t ext[4];
};

#define EV_SET(kevp, a, b, c, d, e, f)                                                             \
    (*(kevp) = (struct kevent){.ident = (uintptr_t)(a),                                            \
                               .filter = (b),                                                      \
                               .flags = (c),                                                       \
                               .fflags = (d),                                                      \
                               .data = (e),                                                        \
                               .udata = (f)})

enum {
    EVFILT_READ = -1,
    EVFILT_WRITE = -2,
    EVFILT_USER = -11,
};

enum {
    EV_ADD = 0x0001,
    EV_DELETE = 0x0002,
    EV_ENABLE = 0x0004,
    EV_DISABLE = 0x0008,
    EV_ONESHOT = 0x0010,
    EV_CLEAR = 0x0020,
    EV_RECEIPT = 0x0040,
    EV_DISPATCH = 0x0080,
    EV_ERROR = 0x4000,
    EV_EOF = 0x8000,
};

enum {
    NOTE_LOWAT = 0x0001,
    NOTE_TRIGGER = 0x01000000,
};

int kqueue(void);
int kevent(int kq, const struct kevent *changelist, int nchanges, struct kevent *eventlist,
           int nevents, const struct timespec *timeout);

#endif
