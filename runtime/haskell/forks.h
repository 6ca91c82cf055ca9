/* In which process Haskell code runs. */
#ifndef CST_HASKELL_FORKS_H
#define CST_HASKELL_FORKS_H

/* Visible: GHC may inline the call into programs, which then need it by name. */
#pragma GCC visibility push(default)
/* How many forks this process came out of since the first call. */
unsigned cst_haskell_forks(void);
#pragma GCC visibility pop

#endif
