/* Variables of one file that other files of the library use.
 *
 * The compiler option that hides names hides definitions alone. The compiler takes a variable that is only declared
 * for one of another library, and reads its address first: an instruction more for each access. */
#ifndef CST_PLATFORM_HIDDEN_H
#define CST_PLATFORM_HIDDEN_H

#define CST_HIDDEN __attribute__((visibility("hidden")))

#endif
