/* 1-byte messages through many pipes, in C: the program of Pipes.hs, with its own event loop.
 *
 *     pipes [PIPES] [MESSAGES] */
#include <capstan.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct channel {
    int from, to;
};

static long left, in_flight;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void pass_on(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                    void *data) {
    const struct channel *channel = data;
    char byte;
    (void)watch, (void)events;
    if (read(fd, &byte, 1) != 1) fail("read");
    if (left-- > in_flight && write(channel->to, &byte, 1) != 1) fail("write");
    if (left == 0) capstan_shutdown(manager);
}

int main(int argc, char **argv) {
    int pipes = argc > 1 ? atoi(argv[1]) : 100;
    long messages = argc > 2 ? atol(argv[2]) : 1000000;
    if (pipes < 1 || messages < pipes) return 2;
    struct channel *channel = calloc((size_t)pipes, sizeof *channel);
    capstan_manager *manager;
    if (channel == NULL || capstan_manager_new(&manager, NULL) != 0) fail("no manager");
    left = messages;
    in_flight = pipes;
    for (int i = 0; i < pipes; i++) {
        int end[2];
        if (pipe(end) != 0) fail("pipe");
        channel[i] = (struct channel){end[0], end[1]};
        if (capstan_fd_register(manager, end[0], CAPSTAN_READ, pass_on, &channel[i], NULL) != 0)
            fail("capstan_fd_register");
    }
    uint64_t before = capstan_clock();
    for (int i = 0; i < pipes; i++)
        if (write(channel[i].to, "x", 1) != 1) fail("write");
    capstan_loop(manager);
    double seconds = (double)(capstan_clock() - before) / 1e9;
    printf("%ld messages through %d pipes: %.0f a second\n", messages, pipes,
           (double)messages / seconds);
    return 0;
}
