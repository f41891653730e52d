/* room.h - memory that will be written, all of it or here and there: its pages are asked for in one
 * call, where each first write to one would otherwise interrupt the program. That takes some tenths
 * of a microsecond, but 10 and more in some virtual machines.
 */
#ifndef RFN_BASE_ROOM_H
#define RFN_BASE_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* Makes sure that there are pages for all of this memory that consists of whole ones; what it holds
 * stays as it is. False: there is no room, or the system is too old (Linux 5.14); then nothing is
 * lost but the time, unless it is a file's memory, of which a page may still be missing. */
bool rfn_make_room(void *memory, size_t bytes);

#endif
