/* view.h - the page for a browser: one HTML file that holds an archive and what reads it.
 *
 * The page is a program of its own: it contains the library's reader, compiled to WebAssembly, and
 * the archive's chunks as they are: every zoom shows the recorded calls. Beside these it
 * holds what takes long to find: the report in JSON, an overview of the whole run, and the longest
 * waits with who ended them. All of it is compressed and coded in base64: no text of an archive is
 * part of the HTML.
 */
#ifndef REFRAIN_VIEW_H
#define REFRAIN_VIEW_H

#include "refrain/archive.h"
#include "refrain/waits.h"

#pragma GCC visibility push(default)

/* Whether this build can make pages. NULL: yes; else what it was built without. */
const char *rfn_page_missing(void);

/* ---- waits ---- */

/* The longest waits of a run, and all of them where there are few. */
struct rfn_seen_waits {
    struct rfn_wait_seen *items;
    size_t n, capacity;
    size_t most;                 /* that are kept */
    uint64_t all;                /* that there were */
    int64_t least_ns;            /* shorter ones are not among the longest */
    struct rfn_wait_watch watch; /* for struct rfn_waits_options */
};

/* It must stay where it is. */
void rfn_seen_waits_init(struct rfn_seen_waits *waits, size_t most);
/* After the analysis: the longest `most`, by stream and time. */
void rfn_seen_waits_finish(struct rfn_seen_waits *waits);
void rfn_seen_waits_release(struct rfn_seen_waits *waits);

/* ---- the page ---- */

struct rfn_page;

/* What the page holds of an archive. */
struct rfn_page_archive {
    const struct rfn_archive *archive;
    const char *report;                 /* the report in JSON, */
    size_t report_size;                 /* its bytes */
    const struct rfn_seen_waits *waits; /* finished */
    const char *whatif;                 /* `refrain whatif --json`, a string; NULL: none */
    uint32_t cells;                     /* of the overview, at most, but 256 per stream at least */
};

/* Begins a file. RFN_E_EXISTS without `force`, RFN_E_IO, RFN_E_UNSUPPORTED (rfn_page_missing),
 * RFN_E_NOMEM. *page is to be closed or cancelled; path must stay until then. */
int rfn_page_open(const char *path, bool force, struct rfn_page **page, struct rfn_diag *diag);
/* Adds an archive, which has times. progress (may be NULL) is told the share done. Errors: as
 * above, and errors of reading. Streams that cannot be read are shown as far as they can. */
int rfn_page_add(struct rfn_page *page, const struct rfn_page_archive *archive,
                 void (*progress)(void *context, double share), void *context,
                 struct rfn_diag *diag);
/* Ends the file; one that it replaces stays until then. *bytes: its size. Frees the page in any
 * case. */
int rfn_page_close(struct rfn_page *page, uint64_t *bytes, struct rfn_diag *diag);
void rfn_page_cancel(struct rfn_page *page);

#pragma GCC visibility pop

#endif
