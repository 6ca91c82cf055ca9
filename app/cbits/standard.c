#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "standard.h"

#include <fcntl.h>
#include <unistd.h>

void cst_cli_standard_occupy(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        /* The lowest number that is free: this one, since those below it are taken. */
        int wrong_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (open("/dev/null", wrong_way | O_CLOEXEC) < 0) return;
    }
}
