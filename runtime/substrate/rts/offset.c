/* Offsets inside GHC's private structures. GHC publishes them in DerivedConstants.h, for its own
 * code generator. They have a file of their own, as that header repeats names of Rts.h. */
#include "DerivedConstants.h"
#include "numbers.h"

#include <pthread.h>
#include <stddef.h>

_Static_assert(sizeof(pthread_mutex_t) == CST_MUTEX_SIZE, "numbers.h says it to the preprocessor");

extern const size_t cst_rts_number_offset;
const size_t cst_rts_number_offset = OFFSET_Capability_no;

extern const size_t cst_rts_switch_offset;
const size_t cst_rts_switch_offset = OFFSET_Capability_context_switch;

/* Headers later than 9.6 have this constant. Before, the field has the same place if its neighbours
 * have the same sizes. Otherwise the offset is 0, and the field is not read. */
#ifdef OFFSET_Capability_n_run_queue
enum { QUEUED = OFFSET_Capability_n_run_queue };
#elif OFFSET_Capability_mut_lists - OFFSET_Capability_no == 72
enum { QUEUED = OFFSET_Capability_no + 48 };
#else
enum { QUEUED = 0 };
#endif
extern const size_t cst_rts_queued_offset;
const size_t cst_rts_queued_offset = QUEUED;

/* The first waiting thread of a Capability follows its lock. Then come the last waiting thread,
 * their number, the Capability's messages, one pointer, and its sparks. The check tells whether
 * this layout, which cmm/coroutine.cmm uses, holds. */
#if OFFSET_Capability_sparks - OFFSET_Capability_lock == CST_MUTEX_SIZE + 40
enum { RETURNING = OFFSET_Capability_lock + CST_MUTEX_SIZE };
#else
enum { RETURNING = 0 };
#endif
extern const size_t cst_rts_returning_offset;
const size_t cst_rts_returning_offset = RETURNING;
