/* no_system.c - in place of archive/temp_file.c and base/system.c: a page has no files, and what it
 * reads is in memory. */
#include "archive/temp_file.h"
#include "base/system.h"

bool rfn_make_room(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
    return true;
}

int rfn_temp_file_file(void)
{
    return -1;
}

struct rfn_temp_file *rfn_temp_file_new(void)
{
    static struct rfn_temp_file none = {.fd = -1};
    return &none;
}

void rfn_temp_file_free(struct rfn_temp_file *scratch)
{
    (void)scratch;
}

bool rfn_temp_file_find(struct rfn_temp_file *scratch, uint64_t chunk, uint64_t *offset)
{
    (void)scratch, (void)chunk, (void)offset;
    return false;
}

int rfn_temp_file_reserve(struct rfn_temp_file *scratch, uint64_t size, uint64_t *offset)
{
    (void)scratch, (void)size, (void)offset;
    return RFN_E_IO;
}

int rfn_temp_file_write(struct rfn_temp_file *scratch, uint64_t offset, const void *bytes,
                        size_t size)
{
    (void)scratch, (void)offset, (void)bytes, (void)size;
    return RFN_E_IO;
}

int rfn_temp_file_keep(struct rfn_temp_file *scratch, uint64_t chunk, uint64_t offset)
{
    (void)scratch, (void)chunk, (void)offset;
    return RFN_E_IO;
}

void rfn_temp_file_drop(struct rfn_temp_file *scratch, uint64_t offset, uint64_t size)
{
    (void)scratch, (void)offset, (void)size;
}
