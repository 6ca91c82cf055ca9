/* GCC's depend arrays.
 *
 * Old form: the total, the number of out and inout, and the addresses, out and inout first. New
 * form: 0, the total, the numbers of out and inout, mutexinoutset and in, their addresses in that
 * order, and the depend objects. An object is two words, address and kind. The address NULL of an
 * out is omp_all_memory. */
#ifndef CST_ABI_GOMP_DEPEND_H
#define CST_ABI_GOMP_DEPEND_H

#include "core/front.h"

/* Decodes an array into `list`, which it returns: a list returned by value would be copied once
 * more for each task. */
const struct cst_depend_list *cst_gomp_depend_decode(struct cst_depend_list *list, void **raw);

#endif
