/* rewrite.h - makes a file of chunks of other archives, as they are stored there, and new ones.
 *
 * New chunks are made first, and wait in a temporary file (temp_file.h) where they are large. Then
 * everything is written in one go from beginning to end, to a name of its own; that file takes the
 * final name when it is there in full. So there is never half an archive of that name, and one that
 * is replaced stays until then.
 */
#ifndef RFN_ARCHIVE_WRITE_REWRITE_H
#define RFN_ARCHIVE_WRITE_REWRITE_H

#include "archive/read/reader.h"
#include "base/rope.h"

struct rfn_gathered;

struct rfn_rewrite_chunk {
    struct rfn_toc_entry entry;   /* offset: in the old file, when it is copied */
    struct rfn_rope bytes;        /* of a new one */
    const struct rfn_chunks *old; /* the file that it is copied from, or NULL */
};

struct rfn_rewrite {
    const struct rfn_archive *from; /* whether it is complete says whether the new file is; NULL:
                                       there is none, and the new file is complete */
    struct rfn_temp_file *scratch;
    struct rfn_spill spill;
    struct rfn_rewrite_chunk *chunks;
    size_t n, capacity;
};

/* RFN_E_NOMEM. To be released even so. It must stay where it is. */
int rfn_rewrite_init(struct rfn_rewrite *rewrite, const struct rfn_archive *from);
void rfn_rewrite_release(struct rfn_rewrite *rewrite);

/* Takes over a chunk of the old archive, by its number in chunks.entries. RFN_E_NOMEM. */
int rfn_rewrite_copy(struct rfn_rewrite *rewrite, size_t entry);
/* The same under another id. */
int rfn_rewrite_copy_as(struct rfn_rewrite *rewrite, size_t entry, uint64_t id);
/* The same of any archive, which stays open meanwhile. */
int rfn_rewrite_copy_of(struct rfn_rewrite *rewrite, const struct rfn_archive *archive,
                        size_t entry, uint64_t id);
/* Makes a chunk; the payload is empty afterwards. RFN_E_NOMEM, RFN_E_IO (the temporary file). */
int rfn_rewrite_add(struct rfn_rewrite *rewrite, uint32_t type, uint64_t id,
                    struct rfn_rope *payload);
/* Makes a chunk of the PROFILEs that have been gathered, if there are any. Errors as above. */
int rfn_rewrite_add_gathered(struct rfn_rewrite *rewrite, struct rfn_gathered *gathered);
/* Fills diag for errors that come without words, as those above do. Returns the error. */
int rfn_rewrite_failed(int error, struct rfn_diag *diag);
/* Takes the last chunk back. */
void rfn_rewrite_drop(struct rfn_rewrite *rewrite);
/* Of the chunks from number `from` on only these n stay, in this order. RFN_E_NOMEM. */
int rfn_rewrite_keep(struct rfn_rewrite *rewrite, size_t from, const size_t *numbers, size_t n);

/* Whether the path can be written to: RFN_E_EXISTS where there is a file, unless `force`;
 * RFN_E_USAGE where it is the old archive itself; RFN_E_IO for folders. */
int rfn_rewrite_check(const struct rfn_rewrite *rewrite, const char *path, bool force,
                      struct rfn_diag *diag);
/* RFN_E_USAGE where the path is this archive. */
int rfn_rewrite_check_other(const struct rfn_archive *archive, const char *path,
                            struct rfn_diag *diag);
/* Writes the file; META and what else comes first in an archive is put first. Devices and pipes are
 * written to, files replaced. An incomplete archive stays one: the new file has no contents, and
 * its header says that it was not finished. *size: its bytes. Errors as above, RFN_E_IO, and
 * RFN_E_CORRUPT for a copied chunk whose checksum is wrong. */
int rfn_rewrite_write(struct rfn_rewrite *rewrite, const char *path, bool force, uint64_t *size,
                      struct rfn_diag *diag);

/* The file that some of the chunks would make, for rfn_archive_open_memory: a file without a name
 * (temp_file.h) of which memory has what is read. */
struct rfn_rewrite_image {
    void *bytes; /* NULL: none */
    size_t size;
};

/* With the chunks of which `has` is true of the type. Errors of rfn_rewrite_write. */
int rfn_rewrite_image(const struct rfn_rewrite *rewrite, bool (*has)(uint32_t type),
                      struct rfn_rewrite_image *image, struct rfn_diag *diag);
void rfn_rewrite_image_release(struct rfn_rewrite_image *image);

#endif
