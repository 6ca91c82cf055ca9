/* The permit interface from the view of its clients: libtcm.so.1 with the names, formats and values
 * of oneTBB's public header. */
#ifndef HOST_TCM_H
#define HOST_TCM_H

#include "testing.h"
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

enum { TCM_SUCCESS = 0, TCM_INVALID = 0x78000004, TCM_UNKNOWN = 0x7ffffffe };
enum { VOID, INACTIVE, PENDING, IDLE, ACTIVE };
enum { RIGID = 2, AS_INACTIVE = 8 };
enum { NEW_CONCURRENCY = 1, NEW_STATE = 2 };

typedef struct tcm_permit_rep *handle;

struct permit {
    uint32_t *concurrencies;
    void **masks;
    uint32_t size;
    uint8_t state;
    uint32_t flags;
};

struct request {
    int32_t least, most;
    void *constraints;
    uint32_t constraint_count;
    int32_t priority;
    uint32_t flags;
    char reserved[4];
};

typedef int callback(handle permit, void *argument, uint32_t flags);

static struct {
    int (*connect)(callback *told, uint64_t *client);
    int (*disconnect)(uint64_t client);
    int (*request)(uint64_t client, struct request request, void *argument, handle *permit,
                   struct permit *data);
    int (*data)(handle permit, struct permit *data);
    int (*release)(handle permit), (*idle)(handle permit), (*deactivate)(handle permit),
        (*activate)(handle permit), (*join)(handle permit);
    int (*leave)(void);
    int (*version)(char *buffer, uint32_t size);
} tcm;

__attribute__((unused)) static void tcm_open(void) {
    void *library = dlopen("libtcm.so.1", RTLD_NOW);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    const struct {
        const char *name;
        void *where;
    } calls[] = {
        {"tcmConnect", &tcm.connect},
        {"tcmDisconnect", &tcm.disconnect},
        {"tcmRequestPermit", &tcm.request},
        {"tcmGetPermitData", &tcm.data},
        {"tcmReleasePermit", &tcm.release},
        {"tcmIdlePermit", &tcm.idle},
        {"tcmDeactivatePermit", &tcm.deactivate},
        {"tcmActivatePermit", &tcm.activate},
        {"tcmRegisterThread", &tcm.join},
        {"tcmUnregisterThread", &tcm.leave},
        {"tcmGetVersionInfo", &tcm.version},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        *(void **)calls[i].where = dlsym(library, calls[i].name);
        CHECK(*(void **)calls[i].where != NULL);
    }
}

static inline struct request ask(int least, int most, uint32_t flags) {
    return (struct request){
        .least = least, .most = most, .priority = INT32_MAX / 2, .flags = flags};
}

/* Returns the number of threads of the permit, which must be in this state. */
__attribute__((unused)) static int threads_of(handle permit, int state) {
    uint32_t threads = 12345;
    struct permit data = {.concurrencies = &threads, .size = 1};
    CHECK_EQ(tcm.data(permit, &data), TCM_SUCCESS);
    CHECK_EQ(data.state, state);
    CHECK_EQ(data.flags & 1, 0); /* not stale */
    return (int)threads;
}

#endif
