/* A place inside GHC's private structures. GHC tells it by this header, for its own code generator;
 * a file of its own, as the header repeats names of Rts.h. */
#include "DerivedConstants.h"

#include <stddef.h>

extern const size_t cst_rts_number_offset;
const size_t cst_rts_number_offset = OFFSET_Capability_no;
