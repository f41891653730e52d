/* system.h - what base needs of the system: descriptors, and memory whose pages are there. */
#ifndef RFN_BASE_SYSTEM_H
#define RFN_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* A descriptor that was just opened (it is taken), or another one of the same file: the three may
 * be free, but whoever reads or writes there must not hit this file. -1 with errno if there is no
 * other, or fd is negative. */
int rfn_above_standard(int fd);

/* Makes sure that there are pages for all of this memory that consists of whole ones, in one call:
 * each first write to one would otherwise interrupt the program, for some tenths of a microsecond,
 * and 10 and more in some virtual machines. What the memory holds stays. False: there is no room,
 * or the system is too old (Linux 5.14); then nothing is lost but the time, unless it is a file's
 * memory, of which a page may still be missing. */
bool rfn_make_room(void *memory, size_t bytes);

#endif
