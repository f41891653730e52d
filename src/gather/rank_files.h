/* rank_files.h - the files of a folder that hold the time-independent text of one rank each. */
#ifndef RFN_GATHER_RANK_FILES_H
#define RFN_GATHER_RANK_FILES_H

#include "refrain/error.h"

#include <stddef.h>
#include <stdint.h>

struct gth_file {
    uint32_t rank;
    uint64_t identity; /* the same for who sees the same file, be it on another host */
    uint64_t bytes;
    char *path;
};

/* Begins as {0}. */
struct gth_files {
    struct gth_file *of; /* n, in ascending order of ranks, each once */
    size_t n, capacity;
    size_t passed_over; /* files that begin with no action, */
    char *first_passed; /* and the first of them by name; NULL: none */
};

/* Finds files that end in .txt, .ti or .trace (and .gz or .zst) and begin with an action; of such
 * names others are passed over, and counted. A folder that is not there has none. RFN_E_CORRUPT: a
 * rank is in two files of different text; RFN_E_IO: a file, or the folder, cannot be read;
 * RFN_E_INCOMPLETE: a file is empty; errors of rfn_text_rank. */
int gth_files_find(struct gth_files *files, const char *folder, struct rfn_diag *diag);
void gth_files_release(struct gth_files *files);

#endif
