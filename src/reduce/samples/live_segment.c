#define _GNU_SOURCE /* MAP_ANONYMOUS, gethostname, openat's flags, posix_fallocate */
#include "reduce/samples/live_segment.h"

#include "base/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROWS = 1 << 16 };

const char *rfn_live_first_place = "/dev/shm";

/* ---- folders ---- */

unsigned rfn_live_places(const char *places[RFN_LIVE_PLACES])
{
    const char *own = getenv("TMPDIR");
    unsigned n = 0;
    places[n++] = rfn_live_first_place;
    if (own && own[0] == '/' && strcmp(own, "/tmp") != 0 && strcmp(own, places[0]) != 0)
        places[n++] = own;
    if (strcmp("/tmp", places[0]) != 0)
        places[n++] = "/tmp";
    return n;
}

/* False: there is no room for a path with the longest name of a file in it. */
static bool folder_path(char path[RFN_LIVE_FILE], const char *place)
{
    const int n = snprintf(path, RFN_LIVE_FILE, "%s/refrain-%u", place, (unsigned)geteuid());
    return n > 0 && n < RFN_LIVE_FILE - RFN_LIVE_NAME - 32;
}

/* Whether nobody else can read it, or has made it. */
static bool is_own(const struct stat *status)
{
    return status->st_uid == geteuid() && (status->st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

int rfn_live_open_folder(const char *place, bool create, struct rfn_diag *diag)
{
    char path[RFN_LIVE_FILE];
    struct stat status;
    if (!folder_path(path, place))
        return rfn_fail(diag, RFN_E_IO, -1, -1, "%s: the name is too long", place);
    if (create && mkdir(path, S_IRWXU) < 0 && errno != EEXIST)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot make the folder %s: %s", path,
                        strerror(errno));
    const int fd = rfn_above_standard(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (fd < 0)
        return rfn_fail(diag, errno == ENOENT ? RFN_E_NOTFOUND : RFN_E_IO, -1, -1,
                        "cannot open the folder %s: %s", path, strerror(errno));
    if (fstat(fd, &status) == 0 && is_own(&status))
        return fd;
    close(fd);
    return rfn_fail(
        diag, RFN_E_IO, -1, -1,
        "%s is no folder of this user's alone (mode 0700): remove it, or have it removed", path);
}

/* ---- processes ---- */

static uint64_t own_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

bool rfn_live_is_near(const struct rfn_live_header *header)
{
    return header->pid_namespace == own_namespace();
}

static bool is_no_process(uint32_t pid)
{
    return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

bool rfn_live_is_gone(const struct rfn_live_header *header)
{
    return header->began ? rfn_process_began(header->pid) != header->began
                         : is_no_process(header->pid);
}

/* ---- files ---- */

void rfn_live_job_name(const char *archive, char name[RFN_LIVE_NAME])
{
    const char *slash = strrchr(archive, '/');
    const char *base = slash ? slash + 1 : archive;
    const size_t length = strlen(base);
    const bool suffixed = length > 4 && strcmp(base + length - 4, ".rfn") == 0;
    snprintf(name, RFN_LIVE_NAME, "%.*s", (int)(length - (suffixed ? 4 : 0)), base);
}

/* "app.8.3.4711", of rank 3. */
static void file_name(char name[RFN_LIVE_FILE], const struct rfn_live_header *header)
{
    snprintf(name, RFN_LIVE_FILE, "%s.%u.%u", header->job, header->rank, header->pid);
}

/* 0: it is no such name. */
static uint32_t pid_of_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    char *end;
    const unsigned long pid = dot ? strtoul(dot + 1, &end, 10) : 0;
    return pid && pid <= INT32_MAX && !*end && dot[1] >= '0' && dot[1] <= '9' ? (uint32_t)pid : 0;
}

static int check_sizes(const struct rfn_live_header *header, const char *name, uint64_t file_bytes,
                       struct rfn_diag *diag)
{
    if (header->version != RFN_LIVE_VERSION || header->header_bytes != sizeof *header ||
        header->row_bytes != sizeof(struct rfn_sample_row) ||
        header->count_bytes != sizeof(struct rfn_sample_count))
        return rfn_fail(diag, RFN_E_VERSION, -1, -1,
                        "%s is a file of another version of Refrain: use that version's tool",
                        name);
    if (header->capacity < 8 || header->capacity > MOST_ROWS ||
        header->pairs != header->capacity * RFN_LIVE_PAIRS ||
        header->counts_bytes != rfn_sample_counts_bytes(header->pairs) ||
        header->table_bytes != rfn_sample_table_bytes(header->capacity) || !header->pid ||
        header->pid > INT32_MAX)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s is damaged", name);
    if (file_bytes < sizeof *header + header->counts_bytes + header->table_bytes)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s was cut short", name);
    return 0;
}

static int read_header(int fd, const char *name, struct rfn_live_header *header,
                       struct rfn_diag *diag)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || !is_own(&status))
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s is no file of this user's alone", name);
    const ssize_t n = pread(fd, header, sizeof *header, 0);
    if (n < 0)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot read %s: %s", name, strerror(errno));
    if (n == 0 || (n >= (ssize_t)sizeof header->magic && !header->magic))
        return rfn_fail(diag, RFN_E_NOTFOUND, -1, -1, "%s is not complete yet: try again", name);
    if (n < (ssize_t)sizeof *header)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s was cut short", name);
    if (header->magic != RFN_LIVE_MAGIC)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s is no file of a job that samples", name);
    RFN_TRY(check_sizes(header, name, (uint64_t)status.st_size, diag));
    header->job[RFN_LIVE_NAME - 1] = 0;
    header->program[RFN_LIVE_NAME - 1] = 0;
    header->host[RFN_LIVE_NAME - 1] = 0;
    return 0;
}

int rfn_live_open_file(int folder, const char *name, int flags, struct rfn_live_header *header,
                       struct rfn_diag *diag)
{
    /* Nothing waits for the other end of what is no file. */
    const int fd = rfn_above_standard(
        openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd < 0)
        return rfn_fail(diag, errno == ENOENT ? RFN_E_NOTFOUND : RFN_E_IO, -1, -1,
                        "cannot open %s: %s", name, strerror(errno));
    const int error = read_header(fd, name, header, diag);
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

/* Whether a file whose header cannot be read is of no process that lives, in another container
 * neither. */
static bool is_forgotten(int folder, const char *name, uint32_t pid)
{
    const int fd = rfn_above_standard(
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    const bool unused = fd >= 0 && pid && is_no_process(pid) && rfn_is_unused(fd);
    if (fd >= 0)
        close(fd);
    return unused;
}

/* strange: a file whose header cannot be read goes, too, if its process is none of this system. */
static bool sweep(int folder, const char *name, bool strange)
{
    struct rfn_live_header header;
    const uint32_t pid = pid_of_name(name);
    const int fd = rfn_live_open_file(folder, name, O_RDONLY, &header, NULL);
    const bool gone = fd < 0 ? (strange && pid && is_no_process(pid)) ||
                                   is_forgotten(folder, name, pid)
                      : rfn_live_is_near(&header) ? rfn_live_is_gone(&header)
                                                  : rfn_is_unused(fd);
    const bool removed = gone && unlinkat(folder, name, 0) == 0;
    if (fd >= 0)
        close(fd);
    return removed;
}

bool rfn_live_sweep(int folder, const char *name)
{
    return sweep(folder, name, true);
}

/* Sweeps all files of a folder whose names begin so. */
static void sweep_folder(int folder, const char *start, bool strange)
{
    const int fd = rfn_above_standard(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries && fd >= 0)
        close(fd);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, start, strlen(start)) == 0)
            sweep(folder, entry->d_name, strange);
    }
    if (entries)
        closedir(entries);
}

void rfn_live_sweep_all(void)
{
    const char *places[RFN_LIVE_PLACES];
    const unsigned n = rfn_live_places(places);
    for (unsigned i = 0; i < n; i++) {
        const int folder = rfn_live_open_folder(places[i], false, NULL);
        if (folder < 0)
            continue;
        sweep_folder(folder, "", false);
        close(folder);
    }
}

/* ---- making the memory ---- */

/* Those of processes that are gone and have been the same rank of a job of that name. */
static void sweep_same(int folder, const struct rfn_live_header *header)
{
    char start[RFN_LIVE_FILE];
    snprintf(start, sizeof start, "%s.%u.", header->job, header->rank);
    sweep_folder(folder, start, true);
}

/* Pages are there before anybody writes to them: where the file system is full, a write to one that
 * is not would end the program. 0 or errno. */
static int allocate(int fd, size_t bytes)
{
    int error = posix_fallocate(fd, 0, (off_t)bytes);
    for (int tries = 0; error == EINTR && tries < 100; tries++)
        error = posix_fallocate(fd, 0, (off_t)bytes);
    return error;
}

/* What is needed where the table has so many rows. */
static size_t bytes_for(const struct rfn_live_header *header, uint32_t rows)
{
    return sizeof *header + header->counts_bytes + rfn_sample_table_offset(header->capacity) +
           rows * sizeof(struct rfn_sample_row);
}

static uint32_t first_rows(const struct rfn_live_header *header)
{
    return header->capacity < RFN_LIVE_FIRST_ROWS ? header->capacity : RFN_LIVE_FIRST_ROWS;
}

/* The memory of a new file; NULL and errno. `first` bytes of it may be written to. */
static void *map_new(int fd, size_t first, size_t bytes)
{
    int error = fchmod(fd, S_IRUSR | S_IWUSR) < 0 ? errno : 0;
    rfn_use_file(fd);
    if (!error)
        error = allocate(fd, first);
    if (!error && ftruncate(fd, (off_t)bytes) < 0)
        error = errno;
    void *memory = error ? MAP_FAILED
                         : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (error)
        errno = error;
    return memory == MAP_FAILED ? NULL : memory;
}

/* The memory in a file of a place's folder; NULL: *diag says why not. */
static void *map_in(const char *place, const struct rfn_live_header *header,
                    struct rfn_live_segment *segment, struct rfn_diag *diag)
{
    char name[RFN_LIVE_FILE];
    const int folder = rfn_live_open_folder(place, true, diag);
    if (folder < 0)
        return NULL;
    file_name(name, header);
    sweep_same(folder, header);
    unlinkat(folder, name, 0); /* the process's own, before it became another program */
    const int fd = rfn_above_standard(openat(
        folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    void *memory = fd < 0 ? NULL
                          : map_new(fd, bytes_for(header, first_rows(header)), segment->bytes);
    if (!memory)
        rfn_fail(diag, RFN_E_IO, -1, -1, "cannot make a file of %zu KiB in %s/refrain-%u: %s",
                 segment->bytes >> 10, place, (unsigned)geteuid(), strerror(errno));
    if (!memory && fd >= 0)
        unlinkat(folder, name, 0);
    if (memory && folder_path(segment->file, place))
        snprintf(segment->file + strlen(segment->file), RFN_LIVE_FILE - strlen(segment->file),
                 "/%s", name);
    if (fd >= 0)
        close(fd);
    close(folder);
    return memory;
}

/* Beyond the process's limit for files there would be a signal. */
static bool may_make_file(size_t bytes, struct rfn_diag *diag)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_FSIZE, &most) < 0 || most.rlim_cur >= bytes)
        return true;
    rfn_fail(diag, RFN_E_IO, -1, -1, "a file of %zu KiB is beyond the limit (ulimit -f)",
             bytes >> 10);
    return false;
}

/* diag: what is wrong with the place that should have been. */
static void *map_somewhere(const struct rfn_live_header *header, struct rfn_live_segment *segment,
                           struct rfn_diag *diag)
{
    const char *places[RFN_LIVE_PLACES];
    const unsigned n = may_make_file(segment->bytes, diag) ? rfn_live_places(places) : 0;
    void *memory = NULL;
    for (unsigned i = 0; i < n && !memory; i++)
        memory = map_in(places[i], header, segment, i == 0 ? diag : NULL);
    if (memory && diag)
        diag->text[0] = 0;
    if (memory)
        return memory;
    memory = mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static struct rfn_live_header header_of(const struct rfn_live_owner *owner, uint32_t rows)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    struct rfn_live_header header = {.version = RFN_LIVE_VERSION,
                                     .header_bytes = sizeof header,
                                     .row_bytes = sizeof(struct rfn_sample_row),
                                     .capacity = rows,
                                     .pairs = rows * RFN_LIVE_PAIRS,
                                     .count_bytes = sizeof(struct rfn_sample_count),
                                     .counts_bytes = rfn_sample_counts_bytes(rows * RFN_LIVE_PAIRS),
                                     .table_bytes = rfn_sample_table_bytes(rows),
                                     .pid_namespace = own_namespace(),
                                     .began = rfn_process_began((uint64_t)getpid()),
                                     .run = owner->run,
                                     .start_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec,
                                     .pid = (uint32_t)getpid(),
                                     .parent = (uint32_t)getppid(),
                                     .rank = owner->rank,
                                     .ranks = owner->ranks};
    snprintf(header.program, sizeof header.program, "%s", owner->program);
    if (owner->archive)
        rfn_live_job_name(owner->archive, header.job);
    else
        snprintf(header.job, sizeof header.job, "%.*s.%u", RFN_LIVE_NAME - 16, owner->program,
                 owner->ranks);
    if (gethostname(header.host, sizeof header.host - 1) < 0)
        header.host[0] = 0;
    return header;
}

int rfn_live_segment_create(struct rfn_live_segment *segment, const struct rfn_live_owner *owner,
                            uint32_t rows, struct rfn_diag *diag)
{
    const struct rfn_live_header header = header_of(owner, rows);
    *segment = (struct rfn_live_segment){.bytes = bytes_for(&header, rows)};
    void *memory = map_somewhere(&header, segment, diag);
    if (!memory)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory for %u rows of samples", rows);
    rfn_make_room(memory, bytes_for(&header, first_rows(&header)));
    segment->header = memory;
    *segment->header = header;
    segment->counts = rfn_sample_counts_init(segment->header + 1, header.pairs);
    segment->table = rfn_sample_table_init((char *)(segment->header + 1) + header.counts_bytes,
                                           rows);
    segment->table->room = first_rows(&header);
    __atomic_store_n(&segment->header->magic, RFN_LIVE_MAGIC, __ATOMIC_RELEASE);
    return 0;
}

/* The file again, as long as it is there. */
static bool allocate_again(const struct rfn_live_segment *segment, size_t bytes)
{
    const int fd = rfn_above_standard(open(segment->file, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (fd < 0)
        return false;
    const bool own = fstat(fd, &status) == 0 && status.st_size == (off_t)segment->bytes;
    const int error = own ? allocate(fd, bytes) : EBADF;
    close(fd);
    return error == 0;
}

bool rfn_live_segment_grow(struct rfn_live_segment *segment)
{
    struct rfn_sample_table *table = segment->table;
    const uint32_t twice = table->room <= table->capacity / 2 ? 2 * table->room : table->capacity;
    const size_t bytes = bytes_for(segment->header, twice);
    segment->full |= twice == table->room || (segment->file[0] && !allocate_again(segment, bytes));
    if (!segment->full)
        table->room = twice;
    return !segment->full;
}

void rfn_live_segment_remove(struct rfn_live_segment *segment)
{
    if (!segment->header)
        return;
    if (segment->file[0] && segment->header->pid == (uint32_t)getpid())
        unlink(segment->file);
    munmap(segment->header, segment->bytes);
    *segment = (struct rfn_live_segment){0};
}

/* ---- texts ---- */

enum { WORDS = RFN_SAMPLE_TEXT / sizeof(uint64_t) };

void rfn_live_text_write(struct rfn_live_text *text, const char *value)
{
    uint64_t words[WORDS] = {0};
    memcpy(words, value, strnlen(value, RFN_SAMPLE_TEXT - 1));
    /* It is odd already where a writer was killed. */
    const uint32_t odd = __atomic_load_n(&text->generation, __ATOMIC_RELAXED) | 1;
    __atomic_store_n(&text->generation, odd, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (size_t i = 0; i < WORDS; i++)
        __atomic_store_n(&text->words[i], words[i], __ATOMIC_RELAXED);
    __atomic_store_n(&text->generation, odd + 1, __ATOMIC_RELEASE);
}

bool rfn_live_text_copy(const struct rfn_live_text *text, uint32_t *seen,
                        char value[RFN_SAMPLE_TEXT])
{
    uint64_t words[WORDS];
    const uint32_t generation = __atomic_load_n(&text->generation, __ATOMIC_ACQUIRE);
    if (generation == *seen || generation % 2 != 0)
        return false;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = __atomic_load_n(&text->words[i], __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&text->generation, __ATOMIC_RELAXED) != generation)
        return false;
    memcpy(value, words, RFN_SAMPLE_TEXT);
    value[RFN_SAMPLE_TEXT - 1] = 0;
    *seen = generation;
    return true;
}
