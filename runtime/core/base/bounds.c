/* Requests beyond all bounds; see bounds.h. */
#include "core/base/bounds.h"

#include "core/base/message.h"

uint32_t cst_bounds_threads(const char *what, uint32_t asked, uint32_t otherwise) {
    static _Atomic bool told;
    if (cst_likely(asked <= CST_MOST_THREADS)) return asked;
    /* Relaxed: the exchange finds the first request, and publishes nothing else. */
    if (!cst_load_relaxed(&told) && !cst_exchange_relaxed(&told, true))
        cst_message("%s asks for %u threads, and no system can have more than %d; the default of "
                    "%u is used instead",
                    what, asked, CST_MOST_THREADS, otherwise);
    return otherwise;
}
