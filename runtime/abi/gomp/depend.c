/* GCC's depend arrays, decoded; see depend.h. */
#include "abi/gomp/depend.h"

#include "abi/gomp/facts.h"
#include "abi/whole.h"

CST_WHOLE(gomp_depend);

static struct cst_depend_item object_at(const struct cst_depend_list *list, size_t index) {
    void **object = list->address[index];
    uintptr_t kind = (uintptr_t)object[1];
    struct cst_depend_item item = {.address = object[0], .kind = CST_DEPEND_OUT};
    if (kind == GOMP_DEPEND_IN) item.kind = CST_DEPEND_IN;
    if (kind == GOMP_DEPEND_INOUTSET) item.kind = CST_DEPEND_INOUTSET;
    return item;
}

const struct cst_depend_list *cst_gomp_depend_decode(struct cst_depend_list *list, void **raw) {
    list->other = object_at;
    if (raw[0]) {
        list->out = (uintptr_t)raw[1];
        list->plain = list->count = (uintptr_t)raw[0];
        list->address = raw + 2;
    } else {
        list->out = (uintptr_t)raw[2] + (uintptr_t)raw[3];
        list->plain = list->out + (uintptr_t)raw[4];
        list->count = (uintptr_t)raw[1];
        list->address = raw + 5;
    }
    return list;
}
