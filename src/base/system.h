/* system.h - what base needs of the system: descriptors, memory whose pages are there, processes,
 * and files that somebody uses. */
#ifndef RFN_BASE_SYSTEM_H
#define RFN_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* When a process began, in ticks since the system's start, the same for all who ask, also from a
 * time namespace; 0: there is none, it has ended and its parent has not noticed, or /proc does not
 * tell. */
uint64_t rfn_process_began(uint64_t pid);

/* ---- files in use ----
 *
 * A process that uses a file in memory (tmpfs, as /dev/shm is) shares its lock (flock). Whoever
 * gets the lock alone knows that nobody uses the file, and may remove it. Linux keeps the lock as
 * long as the file is mapped: no descriptor needs to stay open that the program could see or close.
 * On other file systems (overlayfs) this is not so, and no file counts as unused there. */

/* Shares the lock of an open file, before it is mapped. 0; ESTALE: the file was removed meanwhile,
 * so open it again; another errno: it has no lock. */
int rfn_use_file(int fd);

/* Whether nobody uses the open file, and nobody has removed it yet. If so, the caller has the lock
 * until it closes fd. */
bool rfn_is_unused(int fd);

#endif
