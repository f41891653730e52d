/* archive_calls.h - what the functions of an archive do (event/calls.h). */
#ifndef RFN_ARCHIVE_READ_ARCHIVE_CALLS_H
#define RFN_ARCHIVE_READ_ARCHIVE_CALLS_H

#include "event/calls.h"
#include "refrain/archive.h"

/* Borrowed until the archive is closed. */
const struct rfn_call *rfn_archive_call(const struct rfn_archive *archive, uint32_t function);

#endif
