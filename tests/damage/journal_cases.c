/* What must hold of a damaged journal:
 *
 *   bytes changed    the ranks that come back did what they did according to their newest
 *                    checkpoint, or to the older one if a damaged file is of that rank; a rank
 *                    that does not come back is told of
 *   a body forged    of what becomes of it, verification lets pass only what can be read */
#define _GNU_SOURCE /* memmem */
#include "damage/cases.h"

#include "archive/container.h"
#include "archive/journal_format.h"
#include "base/hash.h"
#include "refrain/journal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_MOST = 1024 };

static const char *path_in(char path[PATH_MOST], const struct journal_seed *seed, const char *work,
                           const char *name)
{
    snprintf(path, PATH_MOST, "%s/%s.journal%s%s", work, seed->name, *name ? "/" : "", name);
    return path;
}

static void put_file(const struct journal_seed *seed, const char *work,
                     const struct journal_file *file)
{
    char path[PATH_MOST];
    write_bytes(path_in(path, seed, work, file->name), &file->file);
}

/* ---- recovering ---- */

struct recovered {
    int error; /* of opening or recovering; with a text */
    bool told; /* something is missing, and this is said */
    struct answer answer;
    bool small;
    bool damaged; /* as verification says, where it is small */
    struct rfn_diag diag;
};

static void read_made(const char *path, struct recovered *made)
{
    struct rfn_archive *archive;
    made->error = rfn_archive_open(path, &archive, &made->diag);
    if (made->error < 0)
        return;
    made->small = answer_is_small(archive);
    answer_read(archive, true, &made->answer);
    rfn_archive_close(archive);
    const int error = made->small ? rfn_archive_verify(path, NULL, NULL, &made->diag) : 0;
    made->damaged = error < 0 && error != RFN_E_INCOMPLETE;
}

static struct recovered recover(const struct journal_seed *seed, const char *work)
{
    struct recovered made = {.diag = {.file_offset = -1, .rank = -1}};
    struct rfn_journals *journals;
    struct rfn_merge_result result;
    char in[PATH_MOST], path[PATH_MOST];
    const char *const folder = path_in(in, seed, work, "");
    size_t lost = 0;
    snprintf(path, sizeof path, "%s/recovered.rfn", work);
    made.error = rfn_journals_open(&folder, 1, &journals, &made.diag);
    if (made.error < 0)
        return made;
    made.error = rfn_journals_recover(journals, path, true, &result, &lost, &made.diag);
    made.told = made.error == 0 && result.missing &&
                (lost || journals->n_damaged || journals->n_others);
    rfn_journals_close(journals);
    if (made.error == 0)
        read_made(path, &made);
    return made;
}

/* ---- the sound journal ---- */

static uint64_t sequence_of(const struct journal_file *file)
{
    return file->file.size < RFN_JOURNAL_HEADER_BYTES ? 0 : rfn_get_u64(file->file.bytes + 16);
}

static bool has_newer(const struct journal_seed *seed, const struct journal_file *file)
{
    for (size_t i = 0; i < seed->n; i++) {
        const struct journal_file *other = &seed->files[i];
        if (other->checkpoint && other->rank == file->rank &&
            sequence_of(other) > sequence_of(file))
            return true;
    }
    return false;
}

/* HOST.PID.START.RANK.checkpoint.N, HOST.PID.RANK.THREAD.NUMBER; no dot is in the seeds' hosts. */
static bool add_file(struct journal_seed *seed, const char *from, const char *name)
{
    char path[PATH_MOST];
    struct journal_file *file = &seed->files[seed->n];
    unsigned long long pid, start, rank;
    snprintf(file->name, sizeof file->name, "%.191s", name);
    file->checkpoint = strstr(name, RFN_JOURNAL_CHECKPOINT) != NULL;
    if (sscanf(name, "%*[^.].%llu.%llu.%llu", &pid, &start, &rank) != 3)
        return false;
    file->rank = (uint32_t)((file->checkpoint ? rank : start) % 64);
    snprintf(path, sizeof path, "%.700s/%.191s", from, name);
    file->file = read_bytes(path);
    seed->n += file->file.bytes != NULL;
    return file->file.bytes != NULL;
}

static bool read_files(struct journal_seed *seed, const char *from)
{
    DIR *folder = opendir(from);
    bool good = folder != NULL;
    for (const struct dirent *entry; good && (entry = readdir(folder));) {
        if (entry->d_name[0] != '.')
            good = seed->n < sizeof seed->files / sizeof *seed->files &&
                   add_file(seed, from, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return good;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(((const struct journal_file *)one)->name,
                  ((const struct journal_file *)other)->name);
}

static bool recover_sound(const struct journal_seed *seed, const char *work, struct answer *answer)
{
    const struct recovered made = recover(seed, work);
    *answer = made.answer;
    if (made.error < 0 || made.damaged || made.told)
        fprintf(stderr, "%s: %s\n", seed->name, made.diag.text);
    return made.error == 0 && !made.damaged && !made.told;
}

bool journal_seed_open(struct journal_seed *seed, const char *folder, const char *name,
                       const char *work)
{
    char from[PATH_MOST], path[PATH_MOST];
    snprintf(from, sizeof from, "%s/%s", folder, name);
    snprintf(seed->name, sizeof seed->name, "%s", name);
    if (!read_files(seed, from))
        return false;
    qsort(seed->files, seed->n, sizeof *seed->files, by_name);
    if (mkdir(path_in(path, seed, work, ""), 0700) < 0 && errno != EEXIST)
        return false;
    for (size_t i = 0; i < seed->n; i++)
        put_file(seed, work, &seed->files[i]);
    if (!recover_sound(seed, work, &seed->newest))
        return false;
    for (size_t i = 0; i < seed->n; i++) {
        if (seed->files[i].checkpoint && !has_newer(seed, &seed->files[i]))
            unlink(path_in(path, seed, work, seed->files[i].name));
    }
    const bool good = recover_sound(seed, work, &seed->older);
    for (size_t i = 0; i < seed->n; i++)
        put_file(seed, work, &seed->files[i]);
    return good;
}

void journal_seed_release(struct journal_seed *seed)
{
    for (size_t i = 0; i < seed->n; i++)
        free(seed->files[i].file.bytes);
    answer_release(&seed->newest);
    answer_release(&seed->older);
}

/* ---- damaged ones ---- */

static const char *wrong_stream(const struct journal_seed *seed, const struct stream_answer *stream,
                                uint64_t spoilt_ranks)
{
    const struct stream_answer *newest = answer_stream(&seed->newest, stream->rank, stream->thread);
    const struct stream_answer *older = answer_stream(&seed->older, stream->rank, stream->thread);
    if (newest && answer_equals(stream, newest, ANSWER_ALL))
        return NULL;
    if (older && spoilt_ranks >> stream->rank & 1 && answer_equals(stream, older, ANSWER_ALL))
        return NULL;
    return "other events came back";
}

static const char *wrong_made(const struct journal_seed *seed, const struct recovered *made,
                              uint64_t spoilt_ranks)
{
    const char *wrong = NULL;
    for (size_t i = 0; i < made->answer.n && !wrong; i++)
        wrong = wrong_stream(seed, &made->answer.streams[i], spoilt_ranks);
    if (!wrong && made->answer.n < seed->newest.n && !made->told)
        wrong = "a rank is missing, and this is not told";
    return wrong;
}

/* A body says something else, and the checksum fits. */
static struct file_bytes forge_checkpoint(struct chance *chance, const struct file_bytes *sound)
{
    struct rfn_buf out = RFN_BUF_INIT;
    const struct file_bytes body = spoil_payload(chance, sound->bytes + RFN_JOURNAL_HEADER_BYTES,
                                                 sound->size - RFN_JOURNAL_HEADER_BYTES);
    rfn_journal_wrap(&out, rfn_get_u64(sound->bytes + 16), body.bytes, body.size);
    free(body.bytes);
    if (out.failed)
        abort();
    return (struct file_bytes){out.data, out.size};
}

/* Blocks say something else: a checkpoint that has their checksum gets the one that fits. */
static void mend_checkpoints(const struct journal_seed *seed, const char *work,
                             const struct journal_file *blocks, const struct file_bytes *forged)
{
    for (size_t i = 0; i < seed->n; i++) {
        struct journal_file copy = seed->files[i];
        const uint64_t size = blocks->file.size;
        struct rfn_buf was = RFN_BUF_INIT, is = RFN_BUF_INIT, out = RFN_BUF_INIT;
        if (!copy.checkpoint || copy.file.size <= RFN_JOURNAL_HEADER_BYTES)
            continue;
        rfn_buf_u64(&was, rfn_hash_bytes(blocks->file.bytes, size));
        rfn_buf_u64(&is, rfn_hash_bytes(forged->bytes, size));
        uint8_t *body = copy.file.bytes + RFN_JOURNAL_HEADER_BYTES;
        const size_t body_bytes = copy.file.size - RFN_JOURNAL_HEADER_BYTES;
        uint8_t *at = memmem(body, body_bytes, was.data, was.size);
        if (at) {
            memcpy(at, is.data, is.size);
            rfn_journal_wrap(&out, sequence_of(&copy), body, body_bytes);
            memcpy(at, was.data, was.size);
            copy.file = (struct file_bytes){out.data, out.size};
            put_file(seed, work, &copy);
        }
        rfn_buf_release(&was);
        rfn_buf_release(&is);
        rfn_buf_release(&out);
    }
}

static struct file_bytes forge(const struct journal_seed *seed, struct chance *chance,
                               const char *work, const struct journal_file *file)
{
    if (file->checkpoint)
        return forge_checkpoint(chance, &file->file);
    struct file_bytes forged = spoil_payload(chance, file->file.bytes, file->file.size);
    forged.size = forged.size < file->file.size ? forged.size : file->file.size;
    forged.bytes = realloc(forged.bytes, file->file.size); /* zeros are behind a shorter one */
    if (!forged.bytes)
        abort();
    memset(forged.bytes + forged.size, 0, file->file.size - forged.size);
    forged.size = file->file.size;
    mend_checkpoints(seed, work, file, &forged);
    return forged;
}

static void judge(const struct journal_seed *seed, const char *work, uint64_t spoilt_ranks,
                  struct verdict *verdict)
{
    struct recovered made = recover(seed, work);
    if (made.error < 0)
        verdict->wrong = made.diag.text[0] ? NULL : "an error without a text";
    else if (verdict->forged)
        verdict->wrong = made.small && !made.damaged && !answer_is_whole(&made.answer)
                             ? "verification lets pass what cannot be read"
                             : NULL;
    else
        verdict->wrong = wrong_made(seed, &made, spoilt_ranks);
    verdict->found = made.error < 0 ? REFUSED : made.told ? IN_PART : WHOLE;
    answer_release(&made.answer);
}

static void damage_file(const struct journal_seed *seed, struct chance *chance, const char *work,
                        const struct journal_file *file, struct verdict *verdict)
{
    struct journal_file spoilt = *file;
    spoilt.file = verdict->forged ? forge(seed, chance, work, file)
                                  : spoil_bytes(chance, &file->file, &verdict->how);
    put_file(seed, work, &spoilt);
    free(spoilt.file.bytes);
}

struct verdict journal_case(const struct journal_seed *seed, struct chance *chance,
                            const char *work, bool keep)
{
    struct verdict verdict = {.how = "a body forged", .forged = chance_below(chance, 3) == 0};
    uint64_t spoilt_ranks = 0;
    for (uint64_t left = chance_below(chance, 3) ? 1 : seed->n; left; left--) {
        const struct journal_file *file = &seed->files[chance_below(chance, seed->n)];
        damage_file(seed, chance, work, file, &verdict);
        spoilt_ranks |= UINT64_C(1) << file->rank;
    }
    judge(seed, work, spoilt_ranks, &verdict);
    for (size_t i = 0; i < seed->n && !keep; i++)
        put_file(seed, work, &seed->files[i]);
    return verdict;
}
