/* Events that complete OpenMP tasks: this file alone connects the event manager with tasks.
 *
 * The event handle of a detached task travels as the function's data. Fulfilling it makes the
 * dependent tasks ready and wakes the threads that wait. The tasks themselves run on their team's
 * threads. */
#include "capstan.h"

#include "abi/omp/prototypes.h"
#include "abi/whole.h"

#include <errno.h>

CST_WHOLE(capstan_event);

static void fulfil_for_fd(capstan_manager *manager, capstan_watch watch, int fd, unsigned events,
                          void *data) {
    (void)manager, (void)watch, (void)fd, (void)events;
    omp_fulfill_event((omp_event_handle_t)data);
}

static void fulfil_for_timer(capstan_manager *manager, capstan_timer timer, uint64_t expirations,
                             void *data) {
    (void)manager, (void)timer, (void)expirations;
    omp_fulfill_event((omp_event_handle_t)data);
}

int capstan_await_fd(int fd, unsigned events, uintptr_t event) {
    if (events & ~(unsigned)(CAPSTAN_READ | CAPSTAN_WRITE | CAPSTAN_HANGUP)) return EINVAL;
    capstan_manager *manager = capstan_manager_default();
    if (manager == NULL) return EAGAIN;
    return capstan_fd_register(manager, fd, events | CAPSTAN_ONESHOT, fulfil_for_fd, (void *)event,
                               NULL);
}

int capstan_await_timer(uint64_t delay, uintptr_t event) {
    capstan_manager *manager = capstan_manager_default();
    if (manager == NULL) return EAGAIN;
    return capstan_timer_start(manager, delay, 0, fulfil_for_timer, (void *)event, NULL);
}
