/* output_folder.h - a folder of files that is written as a whole.
 *
 * Files are written to a folder of their own beside the final one, which gets its name when it is
 * there in full. Until then an old folder of the name stays.
 */
#ifndef RFN_CONVERT_OUTPUT_FOLDER_H
#define RFN_CONVERT_OUTPUT_FOLDER_H

#include "refrain/error.h"

#include <stdbool.h>

enum { RFN_FOLDER_PATH = 4096 };

/* What such a folder is: only folders with nothing else in them are replaced. */
struct rfn_folder_kind {
    const char *what;         /* "an OTF2 trace" */
    const char *mark;         /* a file that each of them has */
    const char *const *files; /* names of files, or their ends, ".otf2"; the last one is NULL */
    const char *inner;        /* a folder inside, with such files; NULL: none */
};

struct rfn_output_folder {
    const struct rfn_folder_kind *kind;
    char path[RFN_FOLDER_PATH];    /* without a slash at its end */
    char scratch[RFN_FOLDER_PATH]; /* where to write */
};

/* RFN_E_EXISTS: there is such a folder, and not `force`, or it has other things in it; RFN_E_IO,
 * RFN_E_RANGE. */
int rfn_output_folder_open(struct rfn_output_folder *folder, const struct rfn_folder_kind *kind,
                           const char *path, bool force, struct rfn_diag *diag);
/* The folder gets its final name; the old one is removed behind that. RFN_E_IO: it did not. */
int rfn_output_folder_place(struct rfn_output_folder *folder, struct rfn_diag *diag);
/* Removes the new folder. */
void rfn_output_folder_cancel(const struct rfn_output_folder *folder);

#endif
