/* Places inside GHC's private structures. GHC tells them by this header, for its own code
 * generator; a file of its own, as the header repeats names of Rts.h. */
#include "DerivedConstants.h"

#include <stddef.h>

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
