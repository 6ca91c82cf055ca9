/* All managers of the process: for forks, and for closing a descriptor that several managers watch.
 *
 * Before a fork, the forking thread takes the locks of all managers, so that the child finds each
 * of them in a consistent state. */
#include "event/manager.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static struct cst_event_lock registry_lock; /* taken before any manager's locks */
static struct capstan_manager *managers;
static bool watching_forks;
static _Atomic uint32_t forks;

static void before_fork(void) {
    cst_event_acquire(&registry_lock);
    for (struct capstan_manager *m = managers; m != NULL; m = m->next) {
        cst_event_acquire(&m->fd_lock);
        cst_event_acquire(&m->lock);
    }
}

static void after_fork_in_parent(void) {
    for (struct capstan_manager *m = managers; m != NULL; m = m->next) {
        cst_event_release(&m->lock);
        cst_event_release(&m->fd_lock);
    }
    cst_event_release(&registry_lock);
}

/* The child has one thread. It may be inside a call of a manager; any other driver is gone. The
 * parent handles the reports that the kernel made to it. Relaxed throughout: there is no other
 * thread. */
static void become_child(struct capstan_manager *manager) {
    if (cst_load_relaxed(&manager->driver) != (uintptr_t)pthread_self()) {
        cst_store_relaxed(&manager->driver, 0);
        cst_store_relaxed(&manager->calling_since, 0); /* its call ends in the parent */
    }
    manager->ready_next = manager->ready_end = manager->ready;
    manager->wanting.count = manager->wanting.next = 0;
    manager->wanting.fd = -1;
    manager->sleeping_until = 0;
    manager->outstanding = false;
    cst_store_relaxed(&manager->quiescing, 0);
    cst_store_relaxed(&manager->forked, 1);
    cst_store_relaxed(&manager->lock.word, 0);
    cst_store_relaxed(&manager->fd_lock.word, 0);
}

static void after_fork_in_child(void) {
    for (struct capstan_manager *m = managers; m != NULL; m = m->next) become_child(m);
    cst_store_relaxed(&registry_lock.word, 0);
    cst_store_relaxed(&forks, cst_load_relaxed(&forks) + 1);
    cst_default_after_fork();
}

int cst_registry_add(struct capstan_manager *manager) {
    int error = 0;
    cst_event_acquire(&registry_lock);
    if (!watching_forks)
        error = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (error == 0) {
        watching_forks = true;
        manager->previous = NULL;
        manager->next = managers;
        if (managers != NULL) managers->previous = manager;
        managers = manager;
    }
    cst_event_release(&registry_lock);
    return error;
}

void cst_registry_remove(struct capstan_manager *manager) {
    cst_event_acquire(&registry_lock);
    if (manager->previous != NULL)
        manager->previous->next = manager->next;
    else
        managers = manager->next;
    if (manager->next != NULL) manager->next->previous = manager->previous;
    cst_event_release(&registry_lock);
}

static void for_manager(struct capstan_manager *manager, int fd,
                        void (*act)(struct capstan_manager *, int)) {
    if (manager != NULL) {
        act(manager, fd);
        return;
    }
    cst_event_acquire(&registry_lock);
    for (struct capstan_manager *m = managers; m != NULL; m = m->next) act(m, fd);
    cst_event_release(&registry_lock);
}

void capstan_fd_unregister_all(capstan_manager *manager, int fd) {
    for_manager(manager, fd, cst_watch_close_fd);
}

void capstan_fd_closed(capstan_manager *manager, int fd) {
    for_manager(manager, fd, cst_watch_verify_fd);
}

/* No lock is held while the file is closed: that may take long, and other descriptors continue. So
 * a registration may come before the close and after the others have ended; capstan_fd_closed ends
 * it. */
int capstan_fd_close(capstan_manager *manager, int fd) {
    capstan_fd_unregister_all(manager, fd);
    int error = close(fd) == 0 ? 0 : errno;
    capstan_fd_closed(manager, fd);
    return error;
}

/* Relaxed: the only thread of a child writes it, before it can make other threads. */
unsigned capstan_forks(void) {
    return cst_load_relaxed(&forks);
}
