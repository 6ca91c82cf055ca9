/* Interoperability objects stand for a foreign runtime's device or stream. Without devices each
 * object is omp_interop_none, and the questions about it have fixed answers. */
#include "abi/omp/both.h"
#include "abi/omp/prototypes.h"

#include "abi/gomp/facts.h"
#include "abi/whole.h"
#include "core/front.h"

CST_WHOLE(omp_interop);

enum { FIRST_PROPERTY = -9, LAST_PROPERTY = -1 };

/* omp_interop_rc_t */
enum { NO_VALUE = 1, SUCCESS = 0, EMPTY = -1, OUT_OF_RANGE = -2, TYPE_STR = -5 };

static bool in_range(int property) {
    return property >= FIRST_PROPERTY && property <= LAST_PROPERTY;
}

static void answer(int property, int *result) {
    if (result) *result = in_range(property) ? EMPTY : OUT_OF_RANGE;
}

/* There are no properties except those of the specification. */
int omp_get_num_interop_properties(omp_interop_t object) {
    (void)object;
    return 0;
}

intptr_t omp_get_interop_int(omp_interop_t object, int property, int *result) {
    (void)object;
    answer(property, result);
    return 0;
}

void *omp_get_interop_ptr(omp_interop_t object, int property, int *result) {
    (void)object;
    answer(property, result);
    return NULL;
}

const char *omp_get_interop_str(omp_interop_t object, int property, int *result) {
    (void)object;
    answer(property, result);
    return NULL;
}

const char *omp_get_interop_name(omp_interop_t object, int property) {
    static const char *const names[] = {"fr_id",       "fr_name",        "vendor",
                                        "vendor_name", "device_num",     "platform",
                                        "device",      "device_context", "targetsync"};
    (void)object;
    return in_range(property) ? names[LAST_PROPERTY - property] : NULL;
}

/* The type of a property of omp_interop_none. */
const char *omp_get_interop_type_desc(omp_interop_t object, int property) {
    (void)object, (void)property;
    return NULL;
}

const char *omp_get_interop_rc_desc(omp_interop_t object, int result) {
    /* libgomp's texts. */
    static const char *const texts[] = {
        "no meaningful value available",
        "successful",
        "provided interoperability object is equal to omp_interop_none",
        "property ID is out of range",
        "property type is integer; use omp_get_interop_int",
        "property type is pointer; use omp_get_interop_ptr",
        "property type is string; use omp_get_interop_str",
    };
    (void)object;
    return result <= NO_VALUE && result >= TYPE_STR ? texts[NO_VALUE - result] : NULL;
}

/* The interop directive. The order of the parts is libgomp's: destroy, init, use; the call waits
 * for the dependences at the end, as nothing before takes time. */
void GOMP_interop(int device, int inits, struct gomp_interop ***init, const int *targetsync,
                  const char **prefer, int uses, struct gomp_interop **use, int destroys,
                  struct gomp_interop ***destroy, unsigned flags, void **depend) {
    (void)targetsync, (void)prefer, (void)uses, (void)use, (void)flags;
    for (int i = 0; i < destroys; i++) *destroy[i] = NULL;
    if (inits > 0) (void)cst_device_is_host(device); /* ends the process if the host may not */
    for (int i = 0; i < inits; i++) *init[i] = NULL;
    if (depend) GOMP_taskwait_depend(depend);
}

/* --- the same for programs of clang --------------------------------------------------------- */

CST_FOR_BOTH(omp_get_num_interop_properties);
CST_FOR_BOTH(omp_get_interop_int);
CST_FOR_BOTH(omp_get_interop_ptr);
CST_FOR_BOTH(omp_get_interop_str);
CST_FOR_BOTH(omp_get_interop_name);
CST_FOR_BOTH(omp_get_interop_type_desc);
CST_FOR_BOTH(omp_get_interop_rc_desc);
