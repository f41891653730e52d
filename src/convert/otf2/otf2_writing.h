/* otf2_writing.h - what becomes of an archive that is written as an OTF2 trace.
 *
 * Streams are written one after another, each by a writer of its own, so memory does not grow with
 * them. Meanwhile regions, communicators and windows that events use get numbers; their definitions
 * are written in the end.
 */
#ifndef RFN_CONVERT_OTF2_OTF2_WRITING_H
#define RFN_CONVERT_OTF2_OTF2_WRITING_H

#include "base/arena.h"
#include "base/map.h"
#include "convert/otf2/otf2_library.h"
#include "refrain/archive.h"
#include "refrain/convert.h"

enum { OTF2_LINE, OTF2_POLLS }; /* the numbers of OTF2_LINE_ATTRIBUTE and OTF2_POLLS_ATTRIBUTE */

/* A region of the trace. */
struct otf2_named {
    const char *name, *file;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    const char *label; /* for people; NULL: the name */
};

/* A frame of a call path: its region, and the line of the frame around it that it was called at. */
struct otf2_frame {
    uint32_t region, line;
};

/* A call path from the outside inwards; line: of the innermost frame, where the call is. */
struct otf2_path {
    const struct otf2_frame *frames; /* NULL: not yet known */
    uint32_t n, line;
};

struct otf2_window {
    OTF2_CommRef comm;
};

struct otf2_writing {
    const struct rfn_archive *archive;
    OTF2_Archive *trace;
    struct rfn_arena arena;
    struct rfn_map region_of; /* hash of what it is -> number */
    struct otf2_named *regions;
    size_t n_regions, regions_capacity;
    struct otf2_path *paths; /* by number of the archive */
    uint32_t *comm_refs;     /* by number of the archive: in order of their use, + 1; 0: not used */
    uint32_t *used_comms;    /* the other way round */
    uint32_t n_used_comms;
    struct rfn_map window_of; /* communicator << 32 | how many there were on it -> number */
    struct otf2_window *windows;
    size_t n_windows, windows_capacity;
    uint64_t *events; /* of OTF2, by stream */
    int64_t end_ns;   /* of the last one */
    struct rfn_otf2_summary *summary;
    struct otf2_errors errors;
    const char *folder;
    struct rfn_diag *diag;
};

/* ---- otf2_write_stream.c ---- */

int rfn_otf2_write_stream(struct otf2_writing *writing, uint32_t stream);

/* ---- otf2_write_definitions.c ---- */

/* The number of the location that a stream becomes. */
uint64_t rfn_otf2_location(const struct otf2_writing *writing, uint32_t stream);
/* The region of a function of MPI, of a region of the program. RFN_E_NOMEM. */
int64_t rfn_otf2_function_region(struct otf2_writing *writing, uint32_t function);
int64_t rfn_otf2_user_region(struct otf2_writing *writing, uint32_t region);
/* The number of a communicator of the archive. */
OTF2_CommRef rfn_otf2_comm_ref(struct otf2_writing *writing, uint32_t comm);
/* The frames of a call path. NULL: out of memory. */
const struct otf2_path *rfn_otf2_path(struct otf2_writing *writing, uint32_t path);
/* The window that is the ordinal-th to be made on the communicator, from 0. RFN_E_NOMEM. */
int64_t rfn_otf2_window(struct otf2_writing *writing, uint32_t comm, uint32_t ordinal);

/* All of them. Returns what went wrong in libotf2; *unsupported is a communicator with processes
 * that are not in the world, -1: none. */
OTF2_ErrorCode rfn_otf2_write_definitions(struct otf2_writing *writing, int64_t *unsupported);

#endif
