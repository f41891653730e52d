/* children.h - the archives of the processes that the program started, as its calls of
 * MPI_Comm_spawn name them (their outcome `archive`). */
#ifndef RFN_CLI_CHILDREN_H
#define RFN_CLI_CHILDREN_H

#include "cli/text.h"
#include "refrain/archive.h"

#include <jansson.h>

struct rfn_child {
    char *archive; /* its name, without folders */
    uint32_t rank; /* that started them */
};

struct rfn_children {
    struct rfn_child *children; /* in order of rank and time */
    size_t n;
};

/* Reads the events if the archive has such calls at all; what cannot be read is left out.
 * RFN_E_NOMEM. */
int rfn_children_init(struct rfn_children *children, const struct rfn_archive *archive);
void rfn_children_release(struct rfn_children *children);
/* A line "Started    x.spawn1.rfn (by rank 0), ...", its first word filled up to width: the first
 * ten and how many more; nothing where there are none. */
void rfn_children_line(struct rfn_text *text, const struct rfn_archive *archive, int width);
/* [{archive, rank}] */
json_t *rfn_json_children(const struct rfn_archive *archive);

#endif
