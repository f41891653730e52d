#define _DEFAULT_SOURCE /* madvise */
#include "base/room.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* older headers */
#define MADV_POPULATE_WRITE 23
#endif

bool rfn_make_room(void *memory, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)memory % page;
    if (bytes < before + page)
        return true;
    bytes -= before;
    return madvise((char *)memory + before, bytes - bytes % page, MADV_POPULATE_WRITE) == 0;
}
