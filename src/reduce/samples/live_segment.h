/* live_segment.h - memory in which a process that samples shows how it does, for `refrain watch`,
 * and takes wishes, from `refrain control`.
 *
 * The memory is a file that the process maps: PLACE/refrain-UID/JOB.RANK.PID, of mode 0600 in a
 * folder of mode 0700. PLACE is /dev/shm; where that cannot be used, $TMPDIR or /tmp. Where none
 * can, the memory is the process's own: it samples all the same, and nobody can watch. The file is
 * there as long as the process samples, and holds
 *
 *     struct rfn_live_header      who it is, what it has counted, what is wished, what is in force
 *     struct rfn_sample_counts    with its index and rows, header_bytes behind the start
 *     struct rfn_sample_table     with its index and rows, behind counts_bytes more
 *
 * The rows of the table come last: the file is as long as they ever get, but has memory only for
 * those that were in use so far (rfn_live_segment_grow). All is in the machine's own byte order and
 * the compiler's layout; the header has the sizes by which a reader knows that it means the same.
 *
 * The process writes by plain stores and waits for nobody. Other processes read the file instead of
 * mapping it: when the file shrinks meanwhile, that is an error and no signal. The folder may lie
 * in /tmp, so readers believe nothing: neither that folder and file are the user's own nor what is
 * in them.
 *
 * A process that is killed leaves its file. The header has the process's time of start as
 * /proc/PID/stat has it, so that another process of that number is not taken for it. A program
 * that looks for jobs removes the files of processes that are gone, and so does the user's next
 * run. The process shares the lock of its file (base/system.h): by that, files from another
 * namespace of process numbers (a container's) can be told from those that nobody uses.
 */
#ifndef RFN_REDUCE_SAMPLES_LIVE_SEGMENT_H
#define RFN_REDUCE_SAMPLES_LIVE_SEGMENT_H

#include "reduce/samples/sample_counts.h"
#include "reduce/samples/sample_table.h"
#include "refrain/live.h"
#include "refrain/sampling.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RFN_LIVE_MAGIC UINT64_C(0x6576696c2d6e6672) /* "rfn-live" */
enum { RFN_LIVE_VERSION = 2 };

/* A text that one process changes while others read it. */
struct rfn_live_text {
    uint32_t generation; /* grows by 2 with each text, and is odd while one is written */
    uint32_t unused;
    uint64_t words[RFN_SAMPLE_TEXT / sizeof(uint64_t)];
};

struct rfn_live_header {
    uint64_t magic; /* written last */
    uint32_t version;
    uint32_t header_bytes, row_bytes; /* of these structures */
    uint32_t capacity;                /* rows of the table, */
    uint32_t pairs;                   /* and of the counts */
    uint32_t count_bytes;             /* of struct rfn_sample_count */
    uint64_t counts_bytes, table_bytes;
    uint64_t pid_namespace; /* inode of /proc/self/ns/pid; 0: not known */
    uint64_t began;         /* of the process, ticks since the system's start; 0: not known */
    uint64_t run;           /* the identity of the run; 0: not known */
    int64_t start_ns;       /* of sampling, since 1970 */
    uint32_t pid, parent;
    uint32_t rank, ranks;
    char job[RFN_LIVE_NAME], program[RFN_LIVE_NAME], host[RFN_LIVE_NAME];
    /* Written by the process, with relaxed stores; they only grow. */
    _Alignas(64) uint64_t messages;
    uint64_t bytes, sampled;
    uint32_t ended;                           /* 1: sampling is over */
    _Alignas(64) struct rfn_live_text in_use; /* the strategy; written by the process */
    _Alignas(64) struct rfn_live_text wish;   /* a strategy; written by others, one at a time */
};

/* ---- the process that samples ---- */

struct rfn_live_owner {
    const char *archive; /* its file, from which the job has its name; NULL: not known */
    const char *program; /* without folders */
    uint32_t rank, ranks;
    uint64_t run; /* the run's identity; 0: not known */
};

struct rfn_live_segment {
    struct rfn_live_header *header;
    struct rfn_sample_counts *counts;
    struct rfn_sample_table *table;
    size_t bytes;             /* of all */
    bool full;                /* the table cannot grow any more */
    char file[RFN_LIVE_FILE]; /* "": the memory is the process's own */
};

/* Rows of counts per row of the table; rows whose pages are there from the beginning. */
enum { RFN_LIVE_PAIRS = 4, RFN_LIVE_FIRST_ROWS = 128 };

/* Makes the memory of a process, with empty tables: of up to so many rows (at least 8), and of
 * RFN_LIVE_PAIRS times as many counts. Removes what processes that are gone have left for the same
 * job and rank. 0, also where the memory can be no file: then *diag (may be NULL) says why, and is
 * empty otherwise. RFN_E_NOMEM. To be called once per rank; no lock, no descriptor is kept. */
int rfn_live_segment_create(struct rfn_live_segment *segment, const struct rfn_live_owner *owner,
                            uint32_t rows, struct rfn_diag *diag);
/* Makes room for twice the rows, up to the table's capacity. False: there is none. */
bool rfn_live_segment_grow(struct rfn_live_segment *segment);
/* Removes the file, in the process that has made it and not in one that was forked from it, and
 * gives back the memory. Nothing happens to a segment of zeros. */
void rfn_live_segment_remove(struct rfn_live_segment *segment);

/* Texts are cut to RFN_SAMPLE_TEXT - 1 characters. One process, and one thread of it, at a time. */
void rfn_live_text_write(struct rfn_live_text *text, const char *value);

/* Whether there is a text that is not the one of *seen (0: none is seen), and it is whole; then
 * *seen is it. The caller checks the text. For the process, now and then: a load where there is
 * none. */
bool rfn_live_text_copy(const struct rfn_live_text *text, uint32_t *seen,
                        char value[RFN_SAMPLE_TEXT]);
static inline bool rfn_live_text_read(const struct rfn_live_text *text, uint32_t *seen,
                                      char value[RFN_SAMPLE_TEXT])
{
    return __builtin_expect(__atomic_load_n(&text->generation, __ATOMIC_RELAXED) != *seen, 0) &&
           rfn_live_text_copy(text, seen, value);
}

/* ---- for others ---- */

enum { RFN_LIVE_PLACES = 3 };

/* The first place, /dev/shm; for tests another one. */
extern const char *rfn_live_first_place;
/* Where folders are looked for, in this order; returns how many, borrowed from the environment. */
unsigned rfn_live_places(const char *places[RFN_LIVE_PLACES]);

/* Opens the folder of a place, which must be the user's own and nobody else's to read; `create`: it
 * is made if it is not there. A descriptor, or RFN_E_NOTFOUND where there is none, RFN_E_IO. */
int rfn_live_open_folder(const char *place, bool create, struct rfn_diag *diag);

/* Opens a file of a folder, if it is the user's own and whole, and copies its header, whose names
 * are terminated. `flags`: O_RDONLY or O_RDWR. A descriptor, or RFN_E_NOTFOUND: there is none, or
 * it is being made; RFN_E_IO; RFN_E_CORRUPT; RFN_E_VERSION: of another Refrain. */
int rfn_live_open_file(int folder, const char *name, int flags, struct rfn_live_header *header,
                       struct rfn_diag *diag);

/* Whether the process is one that can be seen here, */
bool rfn_live_is_near(const struct rfn_live_header *header);
/* and whether it is there no more. */
bool rfn_live_is_gone(const struct rfn_live_header *header);
/* Removes a file if its process is gone, whatever is in it. */
bool rfn_live_sweep(int folder, const char *name);
/* All files of processes that are gone, in all places. */
void rfn_live_sweep_all(void);

#endif
