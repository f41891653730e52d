/* whole_file.h - a file read or written in one go. */
#ifndef RFN_BASE_WHOLE_FILE_H
#define RFN_BASE_WHOLE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Reads a regular file, never through a link in the last place. *bytes is to be freed. RFN_E_NOMEM;
 * RFN_E_IO with errno set. */
int rfn_whole_file_read(const char *path, uint8_t **bytes, size_t *size);

/* Writes all bytes. RFN_E_IO with errno set. */
int rfn_write_all(int fd, const void *bytes, size_t size);

#endif
