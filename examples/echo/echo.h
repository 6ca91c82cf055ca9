/* Shared by the server and its load generator. */
#ifndef ECHO_H
#define ECHO_H

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { MESSAGE = 64 };

static inline void need(int done, const char *what) {
    if (done) return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static inline struct sockaddr_in loopback(int port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Raises the limit of descriptors as far as allowed. */
static inline void raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

#endif
