/* Places inside GHC's private structures. GHC tells them by this header, for its own code
 * generator; a file of its own, as the header repeats names of Rts.h. */
#include "DerivedConstants.h"
#include "numbers.h"

#include <pthread.h>
#include <stddef.h>

_Static_assert(sizeof(pthread_mutex_t) == CST_MUTEX_SIZE, "numbers.h says it to the preprocessor");

extern const size_t cst_rts_number_offset;
const size_t cst_rts_number_offset = OFFSET_Capability_no;

extern const size_t cst_rts_switch_offset;
const size_t cst_rts_switch_offset = OFFSET_Capability_context_switch;

/* Headers later than 9.6's have it. Before, it is where it has been since, if what lies around it
 * is as large; else nobody looks. */
#ifdef OFFSET_Capability_n_run_queue
enum { QUEUED = OFFSET_Capability_n_run_queue };
#elif OFFSET_Capability_mut_lists - OFFSET_Capability_no == 72
enum { QUEUED = OFFSET_Capability_no + 48 };
#else
enum { QUEUED = 0 };
#endif
extern const size_t cst_rts_queued_offset;
const size_t cst_rts_queued_offset = QUEUED;

/* The thread that waits first for a Capability follows its lock; then come the last one, their
 * number, the Capability's messages, one pointer, and its sparks, if all is as cmm/coroutine.cmm
 * has it. */
#if OFFSET_Capability_sparks - OFFSET_Capability_lock == CST_MUTEX_SIZE + 40
enum { RETURNING = OFFSET_Capability_lock + CST_MUTEX_SIZE };
#else
enum { RETURNING = 0 };
#endif
extern const size_t cst_rts_returning_offset;
const size_t cst_rts_returning_offset = RETURNING;
