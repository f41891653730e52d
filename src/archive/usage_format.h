/* usage_format.h - numbers of USAGE (refrain-archive(5)). */
#ifndef RFN_ARCHIVE_USAGE_FORMAT_H
#define RFN_ARCHIVE_USAGE_FORMAT_H

/* Flags of a stream: what the process used is there; with how long it waited for a core. */
enum { RFN_USAGE_PROCESS = 1, RFN_USAGE_CORE_WAIT = 2 };
enum { RFN_USAGE_NS = 1000, RFN_USAGE_BYTES = 1024 }; /* units of times and of memory */

#endif
