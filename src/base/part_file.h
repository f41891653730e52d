/* part_file.h - replacing a file only when the new one is whole.
 *
 * What replaces a file is written to PATH.part, and gets the name PATH at the end. Until then the
 * old file is there, also for who reads it in the meantime.
 */
#ifndef RFN_BASE_PART_FILE_H
#define RFN_BASE_PART_FILE_H

#include <stdbool.h>

/* Where to write the file: PATH.part with `force`, unless PATH is a pipe or a device; else PATH.
 * To be freed. NULL: out of memory. */
char *rfn_part_path(const char *path, bool force);
/* Gives the file its name, if it was written to another one. -1 with errno. */
int rfn_part_place(const char *path, bool force);
/* Removes what was written; the old file stays. */
void rfn_part_remove(const char *path, bool force);

#endif
