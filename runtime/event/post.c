/* Calls posted from any thread. */
#include "event/manager.h"

#include <errno.h>
#include <stdlib.h>

int capstan_post(capstan_manager *manager, capstan_post_function *function, void *data) {
    if (function == NULL && !manager->pull) return EINVAL;
    int error = 0;
    cst_event_acquire(&manager->lock);
    struct cst_post_list *posts = &manager->posts;
    if (cst_load_relaxed(&manager->stopping)) { /* written under the lock */
        error = ESHUTDOWN;
    } else if (posts->count == posts->capacity) {
        size_t capacity = posts->capacity ? 2 * posts->capacity : 64;
        struct cst_post *larger = realloc(posts->item, capacity * sizeof *larger);
        if (larger == NULL) {
            error = ENOMEM;
        } else {
            posts->item = larger;
            posts->capacity = capacity;
        }
    }
    if (error == 0) {
        posts->item[posts->count++] = (struct cst_post){function, data};
        cst_loop_wake(manager, 0);
    }
    cst_event_release(&manager->lock);
    cst_slow_look(manager);
    return error;
}

bool cst_post_take(struct capstan_manager *manager, struct cst_post *post) {
    struct cst_post_list *running = &manager->running;
    if (running->next == running->count) return false;
    *post = running->item[running->next++];
    return true;
}
