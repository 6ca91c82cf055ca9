/* GCC's depend arrays.
 *
 * Old form: total, number of out and inout, addresses, those first. New form: 0, total, out and
 * inout, mutexinoutset, in, addresses in that order, then depend objects. An object is two words,
 * address and kind. The address NULL among the out's is omp_all_memory. */
#ifndef CST_ABI_GOMP_DEPEND_H
#define CST_ABI_GOMP_DEPEND_H

#include "core/front.h"

struct cst_depend_list cst_gomp_depend_list(void **raw);

#endif
