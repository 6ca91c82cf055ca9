/* GCC's words for what the core says of a program's OpenMP. */
#include "core/front.h"

const char cst_message_openmp_prefix[] = "\nlibgomp: ";
