/* The core's messages about a program's OpenMP, in GCC's words. */
#include "core/front.h"

const char cst_message_openmp_prefix[] = "\nlibgomp: ";
