#define _POSIX_C_SOURCE 200809L /* fstat, O_CLOEXEC */

#include "archive/write/rewrite.h"

#include "archive/write/pack_profiles.h"
#include "base/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- chunks ---- */

static int spill_write(void *context, const void *bytes, size_t size, uint64_t *offset)
{
    struct rfn_temp_file *scratch = context;
    RFN_TRY(rfn_temp_file_reserve(scratch, size, offset));
    int error = rfn_temp_file_write(scratch, *offset, bytes, size);
    if (error < 0)
        rfn_temp_file_drop(scratch, *offset, size);
    return error;
}

int rfn_rewrite_init(struct rfn_rewrite *rewrite, const struct rfn_archive *from)
{
    *rewrite = (struct rfn_rewrite){.from = from, .scratch = rfn_temp_file_new()};
    if (!rewrite->scratch)
        return RFN_E_NOMEM;
    rewrite->spill = (struct rfn_spill){
        .context = rewrite->scratch, .write = spill_write, .read = rewrite->scratch->store.read};
    return 0;
}

void rfn_rewrite_release(struct rfn_rewrite *rewrite)
{
    for (size_t i = 0; i < rewrite->n; i++)
        rfn_rope_release(&rewrite->chunks[i].bytes);
    free(rewrite->chunks);
    rfn_temp_file_free(rewrite->scratch);
}

int rfn_rewrite_copy_of(struct rfn_rewrite *rewrite, const struct rfn_archive *archive,
                        size_t entry, uint64_t id)
{
    RFN_TRY(RFN_GROW(rewrite->chunks, rewrite->capacity, rewrite->n + 1));
    rewrite->chunks[rewrite->n] = (struct rfn_rewrite_chunk){
        .entry = archive->chunks.entries[entry], .old = &archive->chunks};
    rewrite->chunks[rewrite->n++].entry.id = id;
    return 0;
}

int rfn_rewrite_copy_as(struct rfn_rewrite *rewrite, size_t entry, uint64_t id)
{
    return rfn_rewrite_copy_of(rewrite, rewrite->from, entry, id);
}

int rfn_rewrite_copy(struct rfn_rewrite *rewrite, size_t entry)
{
    return rfn_rewrite_copy_as(rewrite, entry, rewrite->from->chunks.entries[entry].id);
}

int rfn_rewrite_add_gathered(struct rfn_rewrite *rewrite, struct rfn_gathered *gathered)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    uint32_t type;
    uint64_t id;
    if (gathered->n == 0)
        return 0;
    int error = rfn_gathered_pack(gathered, &type, &id, &payload);
    if (!error)
        error = rfn_rewrite_add(rewrite, type, id, &payload);
    rfn_rope_release(&payload);
    return error;
}

int rfn_rewrite_failed(int error, struct rfn_diag *diag)
{
    if (error >= 0 || !diag || diag->text[0])
        return error;
    const char *text = error == RFN_E_NOMEM ? "out of memory"
                       : error == RFN_E_IO  ? "cannot write a temporary file (see TMPDIR)"
                                            : rfn_error_text(error);
    return rfn_fail(diag, error, -1, -1, "%s", text);
}

void rfn_rewrite_drop(struct rfn_rewrite *rewrite)
{
    rewrite->n--;
    rfn_rope_release(&rewrite->chunks[rewrite->n].bytes);
}

int rfn_rewrite_keep(struct rfn_rewrite *rewrite, size_t from, const size_t *numbers, size_t n)
{
    struct rfn_rewrite_chunk *kept = malloc((n + 1) * sizeof *kept);
    if (!kept)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        kept[i] = rewrite->chunks[numbers[i]];
        rewrite->chunks[numbers[i]].bytes = (struct rfn_rope)RFN_ROPE_INIT;
    }
    while (rewrite->n > from)
        rfn_rewrite_drop(rewrite);
    if (n > 0)
        memcpy(rewrite->chunks + from, kept, n * sizeof *kept);
    rewrite->n = from + n;
    free(kept);
    return 0;
}

/* A chunk's own bytes, or what of them is in the spill. */
struct copying {
    struct rfn_rope *to;
    const struct rfn_spill *spill;
};

static int copy_part(void *context, const uint8_t *bytes, size_t size)
{
    const struct copying *copying = context;
    rfn_buf_bytes(&copying->to->bytes, bytes, size);
    rfn_rope_relieve(copying->to, copying->spill);
    return rfn_rope_status(copying->to);
}

/* What a large payload borrows will be gone before the file is written. */
int rfn_rewrite_add(struct rfn_rewrite *rewrite, uint32_t type, uint64_t id,
                    struct rfn_rope *payload)
{
    struct rfn_rope joined = RFN_ROPE_INIT;
    RFN_TRY(RFN_GROW(rewrite->chunks, rewrite->capacity, rewrite->n + 1));
    struct rfn_rewrite_chunk *chunk = &rewrite->chunks[rewrite->n++];
    *chunk = (struct rfn_rewrite_chunk){.entry = {.type = type, .id = id}};
    int error = rfn_chunk_join(&joined, type, id, payload, true, &rewrite->spill,
                               &chunk->entry.stored_size);
    if (!error)
        error = rfn_rope_each(&joined, copy_part,
                              &(struct copying){&chunk->bytes, &rewrite->spill});
    rfn_rope_release(&joined);
    return error;
}

/* ---- the file ---- */

struct target {
    const char *path; /* the final one, for messages */
    char part[PATH_MAX];
    int fd;
    bool renamed; /* `part` is to be given the final name */
    uint64_t written;
    struct rfn_diag *diag;
};

static int cannot(const struct target *target, const char *what)
{
    return rfn_fail(target->diag, RFN_E_IO, -1, -1, "cannot %s %s: %s", what, target->path,
                    strerror(errno));
}

/* For ropes. The reason is in errno. */
static int put_bytes(void *context, const uint8_t *bytes, size_t size)
{
    struct target *target = context;
    while (size > 0) {
        ssize_t n = write(target->fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot(target, "write");
        bytes += n;
        size -= (size_t)n;
        target->written += (uint64_t)n;
    }
    return 0;
}

enum { COPY_BLOCK = 1 << 14 };

/* How large the part of a chunk is that is read at once, from `at` on: first its header. */
static size_t block_at(const struct rfn_toc_entry *entry, uint64_t at)
{
    uint64_t left = RFN_CHUNK_HEADER_BYTES + entry->stored_size - at;
    if (at == 0)
        return RFN_CHUNK_HEADER_BYTES;
    return left < COPY_BLOCK ? (size_t)left : COPY_BLOCK;
}

/* The checksums of a chunk, as it is and with another id. */
static int sum_both(const struct rfn_chunks *from, const struct rfn_toc_entry *entry,
                    struct rfn_diag *diag, bool *right, uint64_t *sum)
{
    uint8_t bytes[COPY_BLOCK];
    XXH3_state_t before, after;
    uint64_t said = 0, size = RFN_CHUNK_HEADER_BYTES + entry->stored_size;
    XXH3_64bits_reset(&before);
    XXH3_64bits_reset(&after);
    for (uint64_t at = 0; at < size;) {
        size_t n = block_at(entry, at), summed = at == 0 ? RFN_CHUNK_SUMMED_BYTES : n;
        RFN_TRY(rfn_chunks_read(from, entry->offset + at, bytes, n, diag));
        XXH3_64bits_update(&before, bytes, summed);
        if (at == 0) {
            said = rfn_get_u64(bytes + RFN_CHUNK_SUMMED_BYTES);
            rfn_representative_store_64(bytes + RFN_CHUNK_ID_AT, entry->id);
        }
        XXH3_64bits_update(&after, bytes, summed);
        at += n;
    }
    *right = XXH3_64bits_digest(&before) == said;
    *sum = XXH3_64bits_digest(&after);
    return 0;
}

/* A chunk of the old file as it is, but for its id and so its checksum. */
static int copy_chunk(const struct rfn_chunks *from, const struct rfn_toc_entry *entry,
                      struct target *target)
{
    static const uint8_t zeros[RFN_CHUNK_ALIGNMENT];
    uint64_t sum, size = RFN_CHUNK_HEADER_BYTES + entry->stored_size;
    uint8_t bytes[COPY_BLOCK];
    bool right;
    RFN_TRY(sum_both(from, entry, target->diag, &right, &sum));
    if (!right)
        return rfn_fail(target->diag, RFN_E_CORRUPT, (int64_t)entry->offset, -1,
                        "%s: the chunk at offset %llu is damaged", from->path,
                        (unsigned long long)entry->offset);
    for (uint64_t at = 0; at < size;) {
        size_t n = block_at(entry, at);
        RFN_TRY(rfn_chunks_read(from, entry->offset + at, bytes, n, target->diag));
        if (at == 0) {
            rfn_representative_store_64(bytes + RFN_CHUNK_ID_AT, entry->id);
            rfn_representative_store_64(bytes + RFN_CHUNK_SUMMED_BYTES, sum);
        }
        RFN_TRY(put_bytes(target, bytes, n));
        at += n;
    }
    return put_bytes(target, zeros, -size % RFN_CHUNK_ALIGNMENT);
}

/* Those that stand before all others, in this order; the others in the order they were added. */
static size_t order(const struct rfn_rewrite *rewrite, struct rfn_rewrite_chunk **sorted)
{
    static const uint32_t first[] = {RFN_CHUNK_META, RFN_CHUNK_DEFINITIONS, RFN_CHUNK_STREAMS,
                                     RFN_CHUNK_CLOCKS, RFN_CHUNK_RANK_PARAMS};
    enum { N_FIRST = sizeof first / sizeof *first };
    size_t n = 0;
    for (size_t turn = 0; turn <= N_FIRST; turn++) {
        for (size_t i = 0; i < rewrite->n; i++) {
            size_t its = 0;
            while (its < N_FIRST && first[its] != rewrite->chunks[i].entry.type)
                its++;
            if (its == turn)
                sorted[n++] = &rewrite->chunks[i];
        }
    }
    return n;
}

/* What the file begins and ends with. */
static int frame(struct rfn_rewrite_chunk **chunks, size_t n, bool complete,
                 uint8_t header[RFN_HEADER_BYTES], struct rfn_buf *end)
{
    struct rfn_toc_entry *entries = malloc((n + 1) * sizeof *entries);
    struct rfn_buf contents = RFN_BUF_INIT;
    uint64_t at = RFN_HEADER_BYTES;
    if (!entries)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        entries[i] = chunks[i]->entry;
        entries[i].offset = at;
        at += rfn_chunk_bytes(&chunks[i]->entry);
    }
    if (complete) {
        rfn_toc_append(&contents, entries, n);
        rfn_chunk_append(end, RFN_CHUNK_TOC, 0, contents.data, contents.size, true);
    }
    end->failed |= contents.failed;
    rfn_header_write(header, complete ? RFN_STATE_WHOLE : RFN_STATE_WRITING, complete ? at : 0,
                     complete ? at + end->size : 0);
    rfn_buf_release(&contents);
    free(entries);
    return rfn_buf_status(end);
}

static int put_all(const struct rfn_rewrite *rewrite, struct rfn_rewrite_chunk **chunks, size_t n,
                   struct target *target)
{
    uint8_t header[RFN_HEADER_BYTES];
    struct rfn_buf end = RFN_BUF_INIT;
    int error = frame(chunks, n, !rewrite->from || rewrite->from->complete, header, &end);
    if (!error)
        error = put_bytes(target, header, sizeof header);
    for (size_t i = 0; i < n && !error; i++) {
        if (chunks[i]->old)
            error = copy_chunk(chunks[i]->old, &chunks[i]->entry, target);
        else
            error = rfn_rope_each(&chunks[i]->bytes, put_bytes, target);
    }
    if (!error)
        error = put_bytes(target, end.data, end.size);
    rfn_buf_release(&end);
    return error;
}

/* ---- its name ---- */

int rfn_rewrite_check_other(const struct rfn_archive *archive, const char *path,
                            struct rfn_diag *diag)
{
    struct stat there, old;
    if (archive && stat(path, &there) == 0 && archive->chunks.fd >= 0 &&
        fstat(archive->chunks.fd, &old) == 0 && old.st_dev == there.st_dev &&
        old.st_ino == there.st_ino)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "%s is the archive that is read; write to another file", path);
    return 0;
}

int rfn_rewrite_check(const struct rfn_rewrite *rewrite, const char *path, bool force,
                      struct rfn_diag *diag)
{
    struct stat there;
    if (stat(path, &there) < 0)
        return 0;
    if (S_ISDIR(there.st_mode))
        return rfn_fail(diag, RFN_E_IO, -1, -1, "%s is a directory", path);
    RFN_TRY(rfn_rewrite_check_other(rewrite->from, path, diag));
    if (S_ISREG(there.st_mode) && !force)
        return rfn_fail(diag, RFN_E_EXISTS, -1, -1, "%s exists already", path);
    return 0;
}

static int create(struct target *target)
{
    struct stat there;
    bool exists = stat(target->path, &there) == 0;
    target->renamed = !exists || S_ISREG(there.st_mode);
    int n = snprintf(target->part, sizeof target->part, "%s.%ld.part", target->path,
                     (long)getpid());
    if (n < 0 || (size_t)n >= sizeof target->part) {
        errno = ENAMETOOLONG;
        return cannot(target, "create");
    }
    target->fd = target->renamed ? open(target->part,
                                        O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666)
                                 : open(target->path, O_WRONLY | O_CLOEXEC);
    return target->fd < 0 ? cannot(target, "create") : 0;
}

int rfn_rewrite_write(struct rfn_rewrite *rewrite, const char *path, bool force, uint64_t *size,
                      struct rfn_diag *diag)
{
    struct target target = {.path = path, .diag = diag};
    RFN_TRY(rfn_rewrite_check(rewrite, path, force, diag));
    struct rfn_rewrite_chunk **sorted = malloc((rewrite->n + 1) * sizeof *sorted);
    if (!sorted)
        return RFN_E_NOMEM;
    int error = create(&target);
    if (!error) {
        error = put_all(rewrite, sorted, order(rewrite, sorted), &target);
        if (close(target.fd) < 0 && !error)
            error = cannot(&target, "write");
        if (!error && target.renamed && rename(target.part, target.path) < 0)
            error = cannot(&target, "create");
        if (error < 0 && target.renamed)
            unlink(target.part);
    }
    free(sorted);
    *size = target.written;
    return error;
}

/* ---- a file for the moment ---- */

int rfn_rewrite_image(const struct rfn_rewrite *rewrite, bool (*has)(uint32_t type),
                      struct rfn_rewrite_image *image, struct rfn_diag *diag)
{
    struct rfn_rewrite_chunk **chunks = malloc((rewrite->n + 1) * sizeof *chunks);
    if (!chunks)
        return RFN_E_NOMEM;
    struct target target = {
        .path = "a temporary file (see TMPDIR)", .fd = rfn_temp_file_file(), .diag = diag};
    int error = target.fd < 0 ? cannot(&target, "create") : 0;
    size_t n = 0, n_all = order(rewrite, chunks);
    for (size_t i = 0; i < n_all; i++) {
        if (has(chunks[i]->entry.type))
            chunks[n++] = chunks[i];
    }
    if (!error)
        error = put_all(rewrite, chunks, n, &target);
    if (!error) {
        void *bytes = mmap(NULL, (size_t)target.written, PROT_READ, MAP_PRIVATE, target.fd, 0);
        if (bytes == MAP_FAILED)
            error = cannot(&target, "read");
        else
            *image = (struct rfn_rewrite_image){bytes, (size_t)target.written};
    }
    if (target.fd >= 0)
        close(target.fd);
    free(chunks);
    return error;
}

void rfn_rewrite_image_release(struct rfn_rewrite_image *image)
{
    if (image->bytes)
        munmap(image->bytes, image->size);
    *image = (struct rfn_rewrite_image){0};
}
