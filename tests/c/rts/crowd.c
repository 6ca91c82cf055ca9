/* The RTS boots while other threads of the host are at work, and several threads make workers at
 * once. All workers run, and workers that end leave nothing behind.
 *
 * test: plain
 * test: flags -Iruntime -ldl -lpthread */
#include "guest.h"

#include <locale.h>
#include <pthread.h>

enum { HOSTS = 6, MASTERS = 4, ROUNDS = 100, CAPABILITIES = 3 };

static int stop, worked, hosts;

static void *nothing(void *argument) {
    return argument;
}

/* The acts of a host: it allocates memory, makes threads, and reads its locale. Nothing but the RTS
 * could change the locale's name. */
static void *be_host(void *argument) {
    INCREMENT(&hosts);
    while (!GET(&stop)) {
        free(malloc(1 << 18));
        CHECK(strcmp(setlocale(LC_CTYPE, NULL), "C") == 0);
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, NULL, nothing, NULL), 0);
        pthread_join(thread, NULL);
    }
    return argument;
}

static void *work(void *argument) {
    INCREMENT((int *)argument);
    return NULL;
}

static void *be_master(void *argument) {
    const struct cst_substrate *rts = argument;
    for (unsigned i = 1; i <= ROUNDS; i++) {
        CHECK_EQ(rts->spawn(work, &worked, i, 256 * 1024, false), 0);
        if (i % 10 == 0) CHECK(rts->idle_capabilities() <= CAPABILITIES);
    }
    return NULL;
}

int main(void) {
    test_limit(60);
    setenv("LC_ALL", "C.UTF-8", 1);
    pthread_t host[HOSTS], master[MASTERS];
    for (int i = 0; i < HOSTS; i++) CHECK_EQ(pthread_create(&host[i], NULL, be_host, NULL), 0);
    AWAIT(&hosts, HOSTS);
    const struct cst_substrate *rts = guest_start(CAPABILITIES);
    for (int i = 0; i < MASTERS; i++)
        CHECK_EQ(pthread_create(&master[i], NULL, be_master, (void *)rts), 0);
    for (int i = 0; i < MASTERS; i++) pthread_join(master[i], NULL);
    AWAIT(&worked, MASTERS * ROUNDS);
    SET(&stop, 1);
    for (int i = 0; i < HOSTS; i++) pthread_join(host[i], NULL);
    expect_threads(1 + CAPABILITIES);

    /* Repeat: the memory grows no more, but GHC may once begin another block of 1 MiB. So each of
     * these 4000 workers leaves behind half a KiB at most. */
    long before = 0;
    for (int round = 0; round < 60; round++) {
        SET(&worked, 0);
        be_master((void *)rts);
        AWAIT(&worked, ROUNDS);
        expect_threads(1 + CAPABILITIES);
        if (round == 19) before = status_of("RssAnon");
    }
    CHECK(status_of("RssAnon") - before < 2048);
    return 0;
}
