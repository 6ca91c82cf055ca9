/* The process in which Haskell code runs. */
#ifndef CST_HASKELL_FORKS_H
#define CST_HASKELL_FORKS_H

/* This function is visible: GHC may inline its call into programs, which then look it up by
 * name. */
#pragma GCC visibility push(default)
/* The number of forks that led to this process since the first call. */
unsigned cst_haskell_forks(void);
#pragma GCC visibility pop

#endif
