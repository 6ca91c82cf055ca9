/* libtcm.so.1: the permit interface by which oneTBB and Intel's runtime ask for the number of
 * threads that they may run. Names, formats and values are those of its public header (oneTBB,
 * tcm.h). core/budget/permit.h implements the permits.
 *
 * A connection is refused if CAPSTAN_ADOPT does not name oneTBB: the caller then chooses its size
 * itself. Intel's library refuses in the same way unless TCM_ENABLE is set. */
#include "abi/whole.h"
#include "capstan.h"
#include "core/front.h"

#include <stdio.h>

CST_WHOLE(tcm);

enum {
    TCM_SUCCESS = 0,
    TCM_INVALID_ARGUMENT = 0x78000004,
    TCM_UNKNOWN = 0x7ffffffe,
};

/* Bits of struct tcm_permit's and struct tcm_request's flags. */
enum { TCM_RIGID = 2, TCM_AS_INACTIVE = 8 };

/* The answer to a client. `masks` is for processors, which Capstan does not choose. */
struct tcm_permit {
    uint32_t *concurrencies; /* one for each constraint of the request, or one */
    void **masks;
    uint32_t size;
    uint8_t state; /* enum cst_permit_state: the numbers are the same */
    uint32_t flags;
};

/* A request for threads on certain processors. */
struct tcm_constraint {
    int32_t least, most;
    void *mask;
    int32_t node, core_type, threads_per_core;
};

struct tcm_request {
    int32_t least, most; /* negative: this interface chooses */
    struct tcm_constraint *constraints;
    uint32_t constraint_count;
    int32_t priority;
    uint32_t flags;
    char reserved[4];
};

CAPSTAN_API int tcmConnect(cst_permit_told *callback, uint64_t *client);
CAPSTAN_API int tcmDisconnect(uint64_t client);
CAPSTAN_API int tcmRequestPermit(uint64_t client, struct tcm_request request, void *argument,
                                 struct cst_permit **handle, struct tcm_permit *permit);
CAPSTAN_API int tcmGetPermitData(struct cst_permit *handle, struct tcm_permit *permit);
CAPSTAN_API int tcmReleasePermit(struct cst_permit *handle);
CAPSTAN_API int tcmIdlePermit(struct cst_permit *handle);
CAPSTAN_API int tcmDeactivatePermit(struct cst_permit *handle);
CAPSTAN_API int tcmActivatePermit(struct cst_permit *handle);
CAPSTAN_API int tcmRegisterThread(struct cst_permit *handle);
CAPSTAN_API int tcmUnregisterThread(void);
CAPSTAN_API int tcmGetVersionInfo(char *buffer, uint32_t size);

static int code(enum cst_permit_result result) {
    static const int codes[] = {[CST_PERMIT_DONE] = TCM_SUCCESS,
                                [CST_PERMIT_WRONG] = TCM_INVALID_ARGUMENT,
                                [CST_PERMIT_NO_MEMORY] = TCM_UNKNOWN};
    return codes[result];
}

/* Fills in `permit` from the handle's permit, unless it is NULL. */
static int show(struct cst_permit *handle, struct tcm_permit *permit) {
    struct cst_permit_view view;
    enum cst_permit_result result = cst_permit_view(handle, &view);
    if (!permit || result != CST_PERMIT_DONE) return code(result);
    if (permit->concurrencies && permit->size > 0) permit->concurrencies[0] = view.threads;
    permit->state = (uint8_t)view.state;
    permit->flags = 0;
    return TCM_SUCCESS;
}

/* --- clients --------------------------------------------------------------------------------- */

int tcmConnect(cst_permit_told *callback, uint64_t *client) {
    if (!client) return TCM_INVALID_ARGUMENT;
    if (!(cst_config.adopt & CST_ADOPT_ONETBB)) return TCM_UNKNOWN;
    *client = cst_permit_connect(callback);
    return *client ? TCM_SUCCESS : TCM_UNKNOWN;
}

int tcmDisconnect(uint64_t client) {
    return code(cst_permit_disconnect(client));
}

/* --- permits --------------------------------------------------------------------------------- */

/* If processors are named, the numbers of that constraint count. Several constraints are
 * refused. */
int tcmRequestPermit(uint64_t client, struct tcm_request request, void *argument,
                     struct cst_permit **handle, struct tcm_permit *permit) {
    if (!handle || request.constraint_count > 1) return TCM_INVALID_ARGUMENT;
    if (request.constraint_count == 1 && request.constraints) {
        if (request.constraints->least >= 0) request.least = request.constraints->least;
        if (request.constraints->most >= 0) request.most = request.constraints->most;
    }
    struct cst_permit_request wanted = {
        .least = request.least < 0 ? 0 : (uint32_t)request.least,
        .most = request.most < 0 ? cst_processors() : (uint32_t)request.most,
        .inactive = request.flags & TCM_AS_INACTIVE,
        .rigid = request.flags & TCM_RIGID,
        .argument = argument,
    };
    enum cst_permit_result result = cst_permit_request(client, &wanted, handle);
    return result == CST_PERMIT_DONE ? show(*handle, permit) : code(result);
}

int tcmGetPermitData(struct cst_permit *handle, struct tcm_permit *permit) {
    return permit ? show(handle, permit) : TCM_INVALID_ARGUMENT;
}

int tcmReleasePermit(struct cst_permit *handle) {
    return code(cst_permit_release(handle));
}

int tcmIdlePermit(struct cst_permit *handle) {
    return code(cst_permit_set(handle, CST_PERMIT_IDLE));
}

int tcmDeactivatePermit(struct cst_permit *handle) {
    return code(cst_permit_set(handle, CST_PERMIT_INACTIVE));
}

int tcmActivatePermit(struct cst_permit *handle) {
    return code(cst_permit_set(handle, CST_PERMIT_ACTIVE));
}

/* --- threads --------------------------------------------------------------------------------- */

/* A thread that takes part in a permit's work is already one of its threads. Its own regions and
 * permits count like those of any thread. */
int tcmRegisterThread(struct cst_permit *handle) {
    return show(handle, NULL);
}

int tcmUnregisterThread(void) {
    return TCM_SUCCESS;
}

/* Writes one line. */
int tcmGetVersionInfo(char *buffer, uint32_t size) {
    if (!buffer || size == 0) return TCM_INVALID_ARGUMENT;
    snprintf(buffer, size, "TCM: permits by Capstan %s%s\n", CAPSTAN_VERSION,
             cst_config.adopt & CST_ADOPT_ONETBB ? ""
                                                 : ", off: CAPSTAN_ADOPT does not name onetbb");
    return TCM_SUCCESS;
}
