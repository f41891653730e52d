/* Folders of journals become an archive in two steps: of each rank's newest whole checkpoint an
 * archive of that rank alone is put together, in memory or, if it is large, in a temporary file;
 * then these are merged.
 *
 * The run may go on meanwhile. Nothing is locked: a process writes its two checkpoints in turn, and
 * only appends to its files of blocks: the bytes that a whole checkpoint names stay as they are.
 * When the run ends, checkpoints go first, and then blocks: blocks that are missing while their
 * checkpoint is still there are damage. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf */
#endif

#include "archive/journal_format.h"
#include "archive/merge/merge_internal.h"
#include "base/grow.h"
#include "base/whole_file.h"
#include "event/symbolize.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- checkpoints ---- */

/* A checkpoint that is whole. */
struct checkpoint {
    struct rfn_journal_rank rank;
    const char *archive;
    struct rfn_journal_file *files;
    size_t n_files;
    uint64_t sequence, n_chunks;
    struct rfn_reader chunks; /* at the first one */
    uint64_t key;             /* of its run: its identity, or a number where it is not known */
    size_t before;            /* newer processes of this rank, by the key */
    const char *folder;
    char *path;             /* owned */
    uint8_t *bytes;         /* owned: all of the file */
    struct rfn_arena arena; /* texts */
};

/* Checkpoints that lie side by side. */
struct run {
    size_t first, n;
    int64_t start_ns; /* of the first rank */
};

struct all_journals {
    struct rfn_journals public;
    const struct rfn_journal_rank **ranks;
    struct checkpoint **checkpoints; /* run by run; of each ascending ranks */
    size_t n, capacity;
    struct run *runs; /* in order of start */
    size_t n_runs, runs_capacity;
    const char *name; /* of the folders, for messages */
    char **folders;   /* owned */
    size_t n_folders;
};

static void checkpoint_free(struct checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    rfn_arena_release(&checkpoint->arena);
    free(checkpoint->files);
    free(checkpoint->bytes);
    free(checkpoint->path);
    free(checkpoint);
}

/* NULL where it fails. */
static const char *read_string(struct checkpoint *checkpoint, struct rfn_reader *reader)
{
    size_t size;
    const uint8_t *bytes = rfn_reader_blob(reader, &size);
    return reader->failed || (size && memchr(bytes, 0, size))
               ? NULL
               : rfn_arena_copy(&checkpoint->arena, bytes, size);
}

static bool read_files(struct checkpoint *checkpoint, struct rfn_reader *reader)
{
    enum { LEAST = 10 }; /* bytes of a file */
    checkpoint->n_files = rfn_reader_count(reader, LEAST);
    checkpoint->files = calloc(checkpoint->n_files + 1, sizeof *checkpoint->files);
    if (!checkpoint->files || reader->failed)
        return false;
    for (size_t i = 0; i < checkpoint->n_files; i++) {
        struct rfn_journal_file *file = &checkpoint->files[i];
        file->name = read_string(checkpoint, reader);
        file->bytes = rfn_reader_limited(reader, INT64_MAX);
        file->hash = rfn_reader_u64(reader);
        if (!file->name || strchr(file->name, '/'))
            return false;
    }
    return !reader->failed;
}

static bool read_head(struct checkpoint *checkpoint, struct rfn_reader *reader)
{
    struct rfn_journal_rank *rank = &checkpoint->rank;
    rank->rank = (uint32_t)rfn_reader_limited(reader, INT32_MAX);
    rank->ranks = (uint32_t)rfn_reader_limited(reader, INT32_MAX);
    rank->pid = rfn_reader_varint(reader);
    rank->host = read_string(checkpoint, reader);
    rank->start_realtime_ns = (int64_t)rfn_reader_u64(reader);
    rank->until_realtime_ns = (int64_t)rfn_reader_u64(reader);
    const uint8_t state = rfn_reader_u8(reader);
    rank->state = (enum rfn_journal_state)state;
    const uint8_t flags = rfn_reader_u8(reader);
    rank->times_lost = flags & RFN_JOURNAL_TIMES_LOST;
    checkpoint->archive = read_string(checkpoint, reader);
    rank->run = flags & RFN_JOURNAL_OF_RUN ? rfn_reader_u64(reader) : 0;
    if (reader->failed || !rank->host || !checkpoint->archive || rank->rank >= rank->ranks ||
        state > RFN_JOURNAL_ABORTED || rank->start_realtime_ns < 0 || rank->until_realtime_ns < 0 ||
        !read_files(checkpoint, reader))
        return false;
    checkpoint->n_chunks = rfn_reader_varint(reader);
    checkpoint->chunks = *reader;
    return !reader->failed;
}

/* NULL, and *why says what is wrong. */
static struct checkpoint *checkpoint_read(const char *path, const char **why)
{
    struct checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    struct rfn_reader body;
    size_t size;
    *why = "out of memory";
    if (!checkpoint)
        return NULL;
    checkpoint->arena = (struct rfn_arena)RFN_ARENA_INIT;
    const int error = rfn_whole_file_read(path, &checkpoint->bytes, &size);
    *why = error ? rfn_error_text(error)
                 : rfn_journal_open(checkpoint->bytes, size, &checkpoint->sequence, &body);
    if (!*why && !read_head(checkpoint, &body))
        *why = "it is malformed";
    if (!*why && !(checkpoint->path = strdup(path)))
        *why = "out of memory";
    if (!*why)
        return checkpoint;
    checkpoint_free(checkpoint);
    return NULL;
}

/* ---- the folder ---- */

static bool is_checkpoint(const char *name)
{
    const char *at = strstr(name, RFN_JOURNAL_CHECKPOINT);
    const char *number = at ? at + strlen(RFN_JOURNAL_CHECKPOINT) : "";
    return (number[0] == '0' || number[0] == '1') && !number[1];
}

bool rfn_journals_are(const char *path)
{
    DIR *folder = opendir(path);
    bool found = false;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = is_checkpoint(entry->d_name);
    if (folder)
        closedir(folder);
    return found;
}

static bool exists(const char *path)
{
    return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The two files of a process. */
struct pair {
    size_t whole, damaged;
    char why[256]; /* the first damaged one, and its fault */
};

static int add_checkpoint(struct all_journals *all, const char *folder, const char *path,
                          struct pair *pair)
{
    const char *why;
    struct checkpoint *checkpoint = checkpoint_read(path, &why);
    if (!checkpoint) {
        if (exists(path) && !pair->damaged++)
            snprintf(pair->why, sizeof pair->why, "%.150s: %s", strrchr(path, '/') + 1, why);
        return 0;
    }
    if (RFN_GROW(all->checkpoints, all->capacity, all->n + 1) < 0) {
        checkpoint_free(checkpoint);
        return RFN_E_NOMEM;
    }
    checkpoint->folder = folder;
    all->checkpoints[all->n++] = checkpoint;
    pair->whole++;
    return 0;
}

/* A process that runs may write each of the two while it is read: then they are read again. */
static int add_process(struct all_journals *all, const char *folder, const char *name)
{
    enum { TRIES = 5 };
    const struct timespec pause = {.tv_nsec = 2000000};
    struct pair pair = {0};
    char *path = NULL;
    int error = 0;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return RFN_E_NOMEM;
    for (int tries = 0; tries < TRIES && !error; tries++) {
        if (tries)
            nanosleep(&pause, NULL);
        pair = (struct pair){0};
        for (char number = '0'; number <= '1' && !error; number++) {
            path[strlen(path) - 1] = number;
            error = add_checkpoint(all, folder, path, &pair);
        }
        if (pair.whole || !pair.damaged)
            break;
    }
    free(path);
    if (pair.whole || error)
        return error;
    if (!all->public.n_damaged)
        memcpy(all->public.why_damaged, pair.why, sizeof pair.why);
    all->public.n_damaged += pair.damaged;
    return 0;
}

static int names_checkpoint(const struct dirent *entry)
{
    return is_checkpoint(entry->d_name);
}

/* Whether both names are of one process; they differ in the last letter. */
static bool is_pair(const char *one, const char *other)
{
    const size_t length = strlen(one);
    return length == strlen(other) && strncmp(one, other, length - 1) == 0;
}

static int read_folder(struct all_journals *all, const char *folder, struct rfn_diag *diag)
{
    struct dirent **entries;
    const int n = scandir(folder, &entries, names_checkpoint, alphasort);
    int error = 0;
    if (n < 0)
        return rfn_fail(diag, errno == ENOENT ? RFN_E_NOTFOUND : RFN_E_IO, -1, -1,
                        "cannot open %s: %s", folder, strerror(errno));
    for (int i = 0; i < n && !error; i++) {
        if (i == 0 || !is_pair(entries[i - 1]->d_name, entries[i]->d_name))
            error = add_process(all, folder, entries[i]->d_name);
    }
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    return error ? rfn_fail(diag, error, -1, -1, "%s: out of memory", folder) : 0;
}

static int check_any(const struct all_journals *all, struct rfn_diag *diag)
{
    if (!all->n && all->public.n_damaged)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s: no checkpoint can be read; %s", all->name,
                        all->public.why_damaged);
    return all->n ? 0
                  : rfn_fail(diag, RFN_E_NOTFOUND, -1, -1,
                             "%s: there is no journal of a recording in it", all->name);
}

/* ---- runs ----
 *
 * Checkpoints of one identity are one run's. Without identities (files of earlier versions)
 * processes of the same number of ranks that started soon after each other are. A rank is in a run
 * once: a second process of it is another run's. */

/* The processes of a run meet in MPI_Init, and start soon before. */
#define SAME_RUN_NS INT64_C(60000000000)

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* By identity and number of ranks, the latest start first. */
static int by_start(const void *left, const void *right)
{
    const struct rfn_journal_rank *a = &(*(struct checkpoint *const *)left)->rank;
    const struct rfn_journal_rank *b = &(*(struct checkpoint *const *)right)->rank;
    const int run = COMPARE(a->run, b->run), ranks = COMPARE(a->ranks, b->ranks);
    return run ? run : ranks ? ranks : COMPARE(b->start_realtime_ns, a->start_realtime_ns);
}

static int by_key(const struct checkpoint *a, const struct checkpoint *b)
{
    const int known = COMPARE(a->rank.run != 0, b->rank.run != 0), key = COMPARE(a->key, b->key);
    return known ? known : key ? key : COMPARE(a->rank.ranks, b->rank.ranks);
}

/* Of a rank the newest process first, and of that the newer file. */
static int by_rank(const void *left, const void *right)
{
    const struct checkpoint *a = *(struct checkpoint *const *)left;
    const struct checkpoint *b = *(struct checkpoint *const *)right;
    const int key = by_key(a, b), rank = COMPARE(a->rank.rank, b->rank.rank);
    const int start = COMPARE(b->rank.start_realtime_ns, a->rank.start_realtime_ns);
    return key ? key : rank ? rank : start ? start : COMPARE(b->sequence, a->sequence);
}

static int by_run(const void *left, const void *right)
{
    const struct checkpoint *a = *(struct checkpoint *const *)left;
    const struct checkpoint *b = *(struct checkpoint *const *)right;
    const int key = by_key(a, b), before = COMPARE(a->before, b->before);
    return key ? key : before ? before : COMPARE(a->rank.rank, b->rank.rank);
}

static void sort(struct all_journals *all, int (*compare)(const void *, const void *))
{
    qsort(all->checkpoints, all->n, sizeof(struct checkpoint *), compare);
}

static void give_keys(struct all_journals *all)
{
    const struct checkpoint *latest = NULL;
    uint64_t number = 0;
    sort(all, by_start);
    for (size_t i = 0; i < all->n; i++) {
        struct checkpoint *of = all->checkpoints[i];
        if (!latest || latest->rank.ranks != of->rank.ranks ||
            latest->rank.start_realtime_ns - of->rank.start_realtime_ns > SAME_RUN_NS) {
            latest = of;
            number++;
        }
        of->key = of->rank.run ? of->rank.run : number;
    }
}

static bool is_same_process(const struct checkpoint *a, const struct checkpoint *b)
{
    return a->rank.pid == b->rank.pid && strcmp(a->rank.host, b->rank.host) == 0 &&
           a->rank.start_realtime_ns == b->rank.start_realtime_ns;
}

/* Keeps the newer of a process's two, and counts the processes of each rank. */
static void drop_older(struct all_journals *all)
{
    size_t n = 0;
    sort(all, by_rank);
    for (size_t i = 0; i < all->n; i++) {
        struct checkpoint *checkpoint = all->checkpoints[i], *last = NULL;
        if (n && by_key(all->checkpoints[n - 1], checkpoint) == 0 &&
            all->checkpoints[n - 1]->rank.rank == checkpoint->rank.rank)
            last = all->checkpoints[n - 1];
        if (last && is_same_process(last, checkpoint)) {
            checkpoint_free(checkpoint);
            continue;
        }
        checkpoint->before = last ? last->before + 1 : 0;
        all->checkpoints[n++] = checkpoint;
    }
    all->n = n;
}

static int by_first_start(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    const int start = COMPARE(a->start_ns, b->start_ns);
    return start ? start : COMPARE(a->first, b->first);
}

static int find_runs(struct all_journals *all)
{
    give_keys(all);
    drop_older(all);
    sort(all, by_run);
    for (size_t i = 0; i < all->n; i++) {
        const struct checkpoint *of = all->checkpoints[i];
        const struct checkpoint *last = i ? all->checkpoints[i - 1] : of;
        if (i == 0 || by_key(last, of) != 0 || last->before != of->before) {
            RFN_TRY(RFN_GROW(all->runs, all->runs_capacity, all->n_runs + 1));
            all->runs[all->n_runs++] = (struct run){.first = i,
                                                    .start_ns = of->rank.start_realtime_ns};
        }
        struct run *run = &all->runs[all->n_runs - 1];
        run->n++;
        if (of->rank.start_realtime_ns < run->start_ns)
            run->start_ns = of->rank.start_realtime_ns;
    }
    qsort(all->runs, all->n_runs, sizeof *all->runs, by_first_start);
    return 0;
}

void rfn_journals_choose(struct rfn_journals *journals, size_t number)
{
    struct all_journals *all = (struct all_journals *)journals;
    const struct run *run = &all->runs[number];
    const struct checkpoint *first = all->checkpoints[run->first];
    journals->ranks = all->ranks + run->first;
    journals->n = run->n;
    journals->n_ranks = first->rank.ranks;
    journals->archive = first->archive;
    journals->run = number;
    journals->identity = first->rank.run;
    journals->start_realtime_ns = run->start_ns;
    journals->n_others = all->n - run->n;
}

static int copy_names(struct all_journals *all, const char *const *folders, size_t n)
{
    all->name = n == 1 ? folders[0] : "these folders";
    all->folders = calloc(n + 1, sizeof *all->folders);
    for (; all->folders && all->n_folders < n; all->n_folders++) {
        all->folders[all->n_folders] = strdup(folders[all->n_folders]);
        if (!all->folders[all->n_folders])
            return RFN_E_NOMEM;
    }
    if (all->folders && n == 1)
        all->name = all->folders[0];
    return all->folders ? 0 : RFN_E_NOMEM;
}

static int open_all(struct all_journals *all, const char *const *folders, size_t n,
                    struct rfn_diag *diag)
{
    if (copy_names(all, folders, n) < 0)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s: out of memory", folders[0]);
    for (size_t i = 0; i < n; i++)
        RFN_TRY(read_folder(all, all->folders[i], diag));
    RFN_TRY(check_any(all, diag));
    all->ranks = calloc(all->n + 1, sizeof *all->ranks);
    if (!all->ranks || find_runs(all) < 0)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s: out of memory", all->name);
    for (size_t i = 0; i < all->n; i++)
        all->ranks[i] = &all->checkpoints[i]->rank;
    all->public.name = all->name;
    all->public.n_runs = all->n_runs;
    rfn_journals_choose(&all->public, all->n_runs - 1);
    return 0;
}

int rfn_journals_open(const char *const *folders, size_t n, struct rfn_journals **journals,
                      struct rfn_diag *diag)
{
    struct all_journals *all = calloc(1, sizeof *all);
    if (!all)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s: out of memory", folders[0]);
    const int error = open_all(all, folders, n, diag);
    if (error)
        rfn_journals_close(&all->public);
    else
        *journals = &all->public;
    return error;
}

void rfn_journals_close(struct rfn_journals *journals)
{
    struct all_journals *all = (struct all_journals *)journals;
    if (!all)
        return;
    for (size_t i = 0; i < all->n; i++)
        checkpoint_free(all->checkpoints[i]);
    for (size_t i = 0; i < all->n_folders; i++)
        free(all->folders[i]);
    free(all->checkpoints);
    free(all->runs);
    free(all->ranks);
    free(all->folders);
    free(all);
}

/* ---- the archive of a rank ---- */

/* A file of blocks. */
struct blocks {
    struct rfn_spill store;
    int fd; /* -1: there is none */
    uint64_t bytes;
};

static int read_blocks(void *context, uint64_t offset, void *bytes, size_t size)
{
    const struct blocks *blocks = context;
    if (offset > blocks->bytes || size > blocks->bytes - offset)
        return RFN_E_CORRUPT;
    for (size_t at = 0; at < size;) {
        const ssize_t n = pread(blocks->fd, (uint8_t *)bytes + at, size - at, (off_t)(offset + at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? RFN_E_IO : RFN_E_CORRUPT;
        at += (size_t)n;
    }
    return 0;
}

/* Whether the file has what the checkpoint knows of it. */
static int check_blocks(struct blocks *blocks, const struct rfn_journal_file *file)
{
    enum { PART = 1 << 20 };
    uint8_t *part = malloc(PART);
    XXH3_state_t *hash = XXH3_createState();
    int error = part && hash ? 0 : RFN_E_NOMEM;
    if (hash)
        XXH3_64bits_reset(hash);
    for (uint64_t at = 0; at < file->bytes && !error;) {
        const uint64_t left = file->bytes - at;
        const size_t size = left < PART ? (size_t)left : PART;
        error = read_blocks(blocks, at, part, size);
        if (!error)
            XXH3_64bits_update(hash, part, size);
        at += size;
    }
    if (!error && XXH3_64bits_digest(hash) != file->hash)
        error = RFN_E_CORRUPT;
    XXH3_freeState(hash);
    free(part);
    return error;
}

static int open_blocks(const char *folder, const struct rfn_journal_file *file,
                       struct blocks *blocks)
{
    char *path = NULL;
    *blocks = (struct blocks){.fd = -1, .bytes = file->bytes};
    blocks->store = (struct rfn_spill){.context = blocks, .read = read_blocks};
    if (!file->bytes)
        return 0;
    if (asprintf(&path, "%s/%s", folder, file->name) < 0)
        return RFN_E_NOMEM;
    blocks->fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    free(path);
    return blocks->fd < 0 ? RFN_E_CORRUPT : check_blocks(blocks, file);
}

static int add_piece(struct rfn_reader *reader, const struct blocks *blocks, size_t n_blocks,
                     struct rfn_rope *payload)
{
    const uint64_t file = rfn_reader_limited(reader, n_blocks);
    if (!file) {
        size_t size;
        const uint8_t *bytes = rfn_reader_blob(reader, &size);
        if (!reader->failed && size)
            rfn_rope_borrow(payload, bytes, size);
    } else {
        const struct blocks *in = &blocks[file - 1];
        const uint64_t offset = rfn_reader_limited(reader, in->bytes);
        const struct rfn_extent extent = {offset, rfn_reader_limited(reader, in->bytes - offset)};
        if (!reader->failed && extent.size)
            rfn_rope_extent(payload, &in->store, &extent);
    }
    return reader->failed ? RFN_E_CORRUPT : rfn_rope_status(payload);
}

/* The chunks of an archive, and where they are. */
struct image {
    struct rfn_rope bytes;
    struct rfn_toc_entry *entries;
    size_t n, capacity;
};

static int add_chunk(struct rfn_reader *reader, const struct blocks *blocks, size_t n_blocks,
                     struct image *image)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    const uint64_t type = rfn_reader_limited(reader, UINT32_MAX), id = rfn_reader_varint(reader);
    const bool compress = rfn_reader_u8(reader);
    const uint64_t n = rfn_reader_varint(reader);
    int error = reader->failed ? RFN_E_CORRUPT : 0;
    for (uint64_t i = 0; i < n && !error; i++)
        error = add_piece(reader, blocks, n_blocks, &payload);
    if (!error)
        error = RFN_GROW(image->entries, image->capacity, image->n + 1);
    if (!error) {
        struct rfn_toc_entry *entry = &image->entries[image->n++];
        *entry = (struct rfn_toc_entry){
            .type = (uint32_t)type, .id = id, .offset = rfn_rope_size(&image->bytes)};
        error = rfn_chunk_join(&image->bytes, (uint32_t)type, id, &payload, compress, NULL,
                               &entry->stored_size);
    }
    rfn_rope_release(&payload);
    return error;
}

static int make_image(const struct checkpoint *checkpoint, const struct blocks *blocks,
                      struct image *image)
{
    struct rfn_reader reader = checkpoint->chunks;
    struct rfn_buf contents = RFN_BUF_INIT;
    rfn_buf_bytes(&image->bytes.bytes, (uint8_t[RFN_HEADER_BYTES]){0}, RFN_HEADER_BYTES);
    for (uint64_t i = 0; i < checkpoint->n_chunks; i++)
        RFN_TRY(add_chunk(&reader, blocks, checkpoint->n_files, image));
    const uint64_t toc = rfn_rope_size(&image->bytes);
    rfn_toc_append(&contents, image->entries, image->n);
    int error = rfn_buf_status(&contents);
    if (!error)
        rfn_chunk_append(&image->bytes.bytes, RFN_CHUNK_TOC, 0, contents.data, contents.size, true);
    rfn_buf_release(&contents);
    if (!error)
        error = rfn_rope_status(&image->bytes);
    if (!error)
        rfn_header_write(image->bytes.bytes.data, RFN_STATE_WHOLE, toc,
                         rfn_rope_size(&image->bytes));
    return error;
}

/* ---- ranks that are merged ---- */

/* An archive of one rank. */
struct part {
    struct rfn_archive *archive;
    struct rfn_buf memory; /* what it is read from, unless that is a file */
};

static int write_part(void *context, const uint8_t *bytes, size_t size)
{
    const int *fd = context;
    return rfn_write_all(*fd, bytes, size);
}

/* A large one goes to a file that has no name any more once it is open. */
static int open_in_file(const struct rfn_rope *bytes, struct rfn_archive **archive,
                        struct rfn_diag *diag)
{
    const char *folder = getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/refrain-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
        return RFN_E_NOMEM;
    int fd = mkstemp(path);
    int error = fd < 0 ? rfn_fail(diag, RFN_E_IO, -1, -1, "cannot create %s: %s", path,
                                  strerror(errno))
                       : rfn_rope_each(bytes, write_part, &fd);
    if (fd >= 0 && close(fd) < 0)
        error = error ? error : RFN_E_IO;
    if (!error)
        error = rfn_archive_open(path, archive, diag);
    if (fd >= 0)
        unlink(path);
    free(path);
    return error;
}

static int open_part(const struct rfn_rope *bytes, struct part *part, struct rfn_diag *diag)
{
    enum { LARGE = 1 << 20 };
    if (rfn_rope_size(bytes) > LARGE)
        return open_in_file(bytes, &part->archive, diag);
    rfn_rope_flatten(bytes, &part->memory);
    RFN_TRY(rfn_buf_status(&part->memory));
    return rfn_archive_open_memory(part->memory.data, part->memory.size, &part->archive, diag);
}

static int make_part(const struct checkpoint *checkpoint, struct part *part, struct rfn_diag *diag)
{
    struct image image = {.bytes = RFN_ROPE_INIT};
    struct blocks *blocks = calloc(checkpoint->n_files + 1, sizeof *blocks);
    int error = blocks ? 0 : RFN_E_NOMEM;
    size_t n = 0;
    for (; n < checkpoint->n_files && !error; n++)
        error = open_blocks(checkpoint->folder, &checkpoint->files[n], &blocks[n]);
    if (!error)
        error = make_image(checkpoint, blocks, &image);
    if (!error)
        error = open_part(&image.bytes, part, diag);
    rfn_rope_release(&image.bytes);
    free(image.entries);
    for (size_t i = 0; i < n; i++) {
        if (blocks[i].fd >= 0)
            close(blocks[i].fd);
    }
    free(blocks);
    return error;
}

static int merge(struct part *parts, size_t n, const char *path, bool force,
                 struct rfn_merge_result *result, struct rfn_diag *diag)
{
    struct rfn_archive_merge_options options = {.symbolizer = rfn_symbolizer_new()};
    const struct rfn_archive **archives = calloc(n + 1, sizeof *archives);
    int error = archives ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; i < n && !error; i++) {
        archives[i] = parts[i].archive;
        options.cluster |= rfn_archive_run(archives[i])->clustered;
    }
    if (!error)
        error = rfn_archive_merge_archives(archives, n, &options, path, force, result, diag);
    rfn_symbolizer_free(options.symbolizer);
    free(archives);
    return error;
}

/* Makes the archives of all ranks of the run that can be read, *n of them; *lost counts the others.
 */
static int make_parts(const struct all_journals *all, struct part *parts, size_t *n, size_t *lost,
                      struct rfn_diag *diag)
{
    const struct run *run = &all->runs[all->public.run];
    bool times = false;
    for (size_t i = 0; i < run->n; i++)
        times |= !all->public.ranks[i]->times_lost;
    for (size_t i = 0; i < run->n; i++) {
        const struct checkpoint *checkpoint = all->checkpoints[run->first + i];
        if (times && checkpoint->rank.times_lost) {
            ++*lost; /* an archive has times of all ranks or of none */
            continue;
        }
        const int error = make_part(checkpoint, &parts[*n], diag);
        const bool damaged = error == RFN_E_CORRUPT || error == RFN_E_INCOMPLETE;
        if (damaged && !exists(checkpoint->path))
            return rfn_fail(diag, RFN_E_NOTFOUND, -1, -1, "%s: the run has ended meanwhile",
                            all->name);
        if (error && !damaged)
            return error;
        if (damaged)
            rfn_buf_release(&parts[*n].memory);
        *lost += damaged;
        *n += !damaged;
    }
    return *n ? 0
              : rfn_fail(diag, RFN_E_CORRUPT, -1, -1,
                         "%s: what every rank saved is damaged, so nothing can be recovered",
                         all->name);
}

int rfn_journals_recover(const struct rfn_journals *journals, const char *path, bool force,
                         struct rfn_merge_result *result, size_t *lost, struct rfn_diag *diag)
{
    const struct all_journals *all = (const struct all_journals *)journals;
    struct part *parts = calloc(journals->n + 1, sizeof *parts);
    size_t n = 0;
    *lost = 0;
    int error = parts ? make_parts(all, parts, &n, lost, diag) : RFN_E_NOMEM;
    if (!error)
        error = merge(parts, n, path, force, result, diag);
    for (size_t i = 0; parts && i <= journals->n && i < n + 1; i++) {
        if (parts[i].archive)
            rfn_archive_close(parts[i].archive);
        rfn_buf_release(&parts[i].memory);
    }
    free(parts);
    return rfn_rewrite_failed(error, diag);
}
