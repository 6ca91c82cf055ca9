#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "standard.h"

#include <fcntl.h>
#include <unistd.h>

void cst_cli_standard_occupy(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        /* open takes the lowest free number. This is `fd`, since the numbers below it are taken. */
        int wrong_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (open("/dev/null", wrong_way | O_CLOEXEC) < 0) return;
    }
}
