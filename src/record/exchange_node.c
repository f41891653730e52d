#include "record/exchange_node.h"

#include "base/descriptor.h"
#include "record/clock.h"
#include "record/say.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BOX_BYTES = 1 << 16, SLOTS = 2, PIECE = BOX_BYTES / SLOTS - 16 };
enum { TO_PARENT, FROM_PARENT, TO_FIRST, BOXES }; /* of a rank */
enum { HEAD_BYTES = 4096, NAME_BYTES = 64 };
enum { PATIENCE = 1 }; /* seconds, until it is asked whether the other process is still there */

struct slot {
    uint64_t total; /* bytes of the message, in each piece of it */
    uint8_t bytes[PIECE];
};

/* The room is zero when it is new: nothing has been put in. */
struct rec_node_box {
    uint32_t put, taken; /* pieces so far, modulo 2^32 */
    uint64_t process;    /* of the rank whose box it is */
    struct slot slots[SLOTS];
};

_Static_assert(sizeof(struct rec_node_box) == BOX_BYTES, "boxes are not whole pages");

/* Zero when it is new. */
struct rec_node_memory {
    uint64_t claimed;
    int64_t last_came;                                 /* ns */
    uint32_t noes;                                     /* of those who have come */
    uint32_t said;                                     /* UNSAID, YES or NO */
    uint8_t unused[HEAD_BYTES - 3 * sizeof(uint64_t)]; /* of the page */
    struct rec_node_box boxes[];
};

_Static_assert(sizeof(struct rec_node_memory) == HEAD_BYTES, "the head is not whole pages");

/* ---- boxes ---- */

static int parent_of(int rank)
{
    return rank & (rank - 1);
}

/* NULL: such messages are not sent. */
static struct rec_node_box *box_between(const struct rec_node_exchange *exchange, int from, int to)
{
    if (from < 0 || to < 0 || from >= exchange->exchange.size || to >= exchange->exchange.size)
        return NULL;
    if (from > 0 && to == parent_of(from))
        return &exchange->memory->boxes[(size_t)from * BOXES + TO_PARENT];
    if (to > 0 && from == parent_of(to))
        return &exchange->memory->boxes[(size_t)to * BOXES + FROM_PARENT];
    return from > 0 && to == 0 ? &exchange->memory->boxes[(size_t)from * BOXES + TO_FIRST] : NULL;
}

/* ---- waiting ---- */

static bool has_ended(const struct rec_node_exchange *exchange, int rank)
{
    const pid_t process = (pid_t)exchange->memory->boxes[(size_t)rank * BOXES].process;
    return kill(process, 0) < 0 && errno == ESRCH;
}

/* Until the counter of rank `other` is not `old` any more. RFN_E_EXCHANGE: that rank has ended. */
static int wait_for_change(const struct rec_node_exchange *exchange, int other, uint32_t *counter,
                           uint32_t old)
{
    const struct timespec patience = {.tv_sec = PATIENCE};
    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) == old) {
        long rc = syscall(SYS_futex, counter, FUTEX_WAIT, old, &patience, NULL, 0);
        const bool late = rc < 0 && errno != EAGAIN; /* or a signal has come */
        if (late && has_ended(exchange, other) && __atomic_load_n(counter, __ATOMIC_ACQUIRE) == old)
            return RFN_E_EXCHANGE;
    }
    return 0;
}

static void count_on(uint32_t *counter)
{
    __atomic_store_n(counter, *counter + 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, counter, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- what is said to all ---- */

void rec_node_come(struct rec_node_exchange *exchange, int64_t ns, bool yes)
{
    struct rec_node_memory *memory = exchange->memory;
    int64_t last = __atomic_load_n(&memory->last_came, __ATOMIC_RELAXED);
    while (last < ns && !__atomic_compare_exchange_n(&memory->last_came, &last, ns, true,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
    if (!yes)
        __atomic_fetch_add(&memory->noes, 1, __ATOMIC_ACQ_REL);
}

int64_t rec_node_last_came(const struct rec_node_exchange *exchange)
{
    return __atomic_load_n(&exchange->memory->last_came, __ATOMIC_ACQUIRE);
}

bool rec_node_all_said_yes(const struct rec_node_exchange *exchange)
{
    return __atomic_load_n(&exchange->memory->noes, __ATOMIC_ACQUIRE) == 0;
}

enum { UNSAID, YES, NO };
enum { FIRST_NAP = 1000000, LONGEST_NAP = 16000000 }; /* ns, while what it is for goes on */

void rec_node_say(struct rec_node_exchange *exchange, bool yes)
{
    uint32_t *said = &exchange->memory->said;
    __atomic_store_n(said, yes ? YES : NO, __ATOMIC_RELEASE);
    syscall(SYS_futex, said, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool rec_node_hear(const struct rec_node_exchange *exchange, void (*meanwhile)(void))
{
    uint32_t *said = &exchange->memory->said;
    struct timespec nap = {.tv_nsec = FIRST_NAP};
    while (__atomic_load_n(said, __ATOMIC_ACQUIRE) == UNSAID) {
        long rc = syscall(SYS_futex, said, FUTEX_WAIT, UNSAID, &nap, NULL, 0);
        if (rc == 0 || errno == EAGAIN)
            continue;
        meanwhile(); /* also where a signal of the program's ends each nap */
        if (nap.tv_nsec < LONGEST_NAP)
            nap.tv_nsec *= 2;
        else if (has_ended(exchange, 0))
            break;
    }
    return __atomic_load_n(said, __ATOMIC_ACQUIRE) == YES;
}

/* ---- messages ---- */

static size_t piece_of(uint64_t left)
{
    return left < PIECE ? (size_t)left : PIECE;
}

/* The next piece of a message of `total` bytes. */
static int put_piece(const struct rec_node_exchange *exchange, int to, uint64_t total,
                     const uint8_t *bytes, size_t size)
{
    struct rec_node_box *box = box_between(exchange, exchange->exchange.rank, to);
    if (!box)
        return RFN_E_EXCHANGE;
    RFN_TRY(wait_for_change(exchange, to, &box->taken, box->put - SLOTS));
    struct slot *slot = &box->slots[box->put % SLOTS];
    slot->total = total;
    if (size > 0)
        memcpy(slot->bytes, bytes, size);
    count_on(&box->put);
    return 0;
}

/* The piece that is to be taken next, when it is there; *box is for end_piece. */
static int begin_piece(const struct rec_node_exchange *exchange, int from,
                       struct rec_node_box **box, const struct slot **piece)
{
    *box = box_between(exchange, from, exchange->exchange.rank);
    if (!*box)
        return RFN_E_EXCHANGE;
    RFN_TRY(wait_for_change(exchange, from, &(*box)->put, (*box)->taken));
    *piece = &(*box)->slots[(*box)->taken % SLOTS];
    return 0;
}

static void end_piece(struct rec_node_box *box)
{
    count_on(&box->taken);
}

static int send_bytes(void *context, int to, const void *bytes, size_t size)
{
    const struct rec_node_exchange *exchange = context;
    size_t at = 0, piece;
    do {
        piece = piece_of(size - at);
        RFN_TRY(put_piece(exchange, to, size, (const uint8_t *)bytes + at, piece));
        at += piece;
    } while (at < size);
    return 0;
}

/* A receiver without memory takes all pieces nevertheless: the sender must not wait for ever. */
static int receive_bytes(void *context, int from, struct rfn_buf *bytes)
{
    const struct rec_node_exchange *exchange = context;
    struct rec_node_box *box;
    const struct slot *slot;
    uint64_t at = 0, total = 0;
    uint8_t *to = NULL;
    do {
        RFN_TRY(begin_piece(exchange, from, &box, &slot));
        if (at == 0) {
            total = slot->total;
            to = rfn_buf_reserve(bytes, total);
        }
        const size_t piece = piece_of(total - at);
        if (to && piece > 0)
            memcpy(to + at, slot->bytes, piece);
        end_piece(box);
        at += piece;
    } while (at < total);
    if (!to && total > 0)
        return RFN_E_NOMEM;
    bytes->size += total;
    return 0;
}

/* Down the tree, the farthest child first. */
static int tell(void *context, uint64_t *word)
{
    const struct rec_node_exchange *exchange = context;
    const int rank = exchange->exchange.rank, size = exchange->exchange.size;
    int step = rfn_exchange_parent_step(&exchange->exchange);
    if (rank > 0) {
        struct rec_node_box *box;
        const struct slot *slot;
        RFN_TRY(begin_piece(exchange, rank - step, &box, &slot));
        memcpy(word, slot->bytes, sizeof *word);
        end_piece(box);
    }
    for (step /= 2; step >= 1; step /= 2) {
        if (rank + step < size)
            RFN_TRY(send_bytes(context, rank + step, word, sizeof *word));
    }
    return 0;
}

/* ---- the memory ---- */

/* Of the boxes of so many ranks. */
static size_t bytes_for(int size)
{
    return (size_t)size * BOXES * sizeof(struct rec_node_box);
}

/* As memfd_create is told; a link in /proc adds to it. */
static void write_name(char text[NAME_BYTES], uint64_t nonce)
{
    snprintf(text, NAME_BYTES, "refrain-%016" PRIx64, nonce);
}

/* Memory that cannot be made executable; older systems do not know of that. */
static int create_file(const char *name)
{
#ifdef MFD_NOEXEC_SEAL
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (fd >= 0 || errno != EINVAL)
        return fd;
#endif
    return memfd_create(name, MFD_CLOEXEC);
}

/* -1: the program may be limited in how large its files are, or how many. */
static int create_memory(const char *name, size_t bytes)
{
    struct rec_signals signals;
    int fd = rfn_above_standard(create_file(name));
    rec_signals_hold(&signals); /* SIGXFSZ */
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) < 0) {
        close(fd);
        fd = -1;
    }
    rec_signals_release(&signals);
    return fd;
}

struct rec_node_name rec_node_offer(int size)
{
    const struct rec_node_name none = {0};
    struct rec_node_name name = {.nonce = (uint64_t)rec_monotonic_ns(), .process = getpid()};
    char text[NAME_BYTES];
    write_name(text, name.nonce);
    name.fd = create_memory(text, HEAD_BYTES + bytes_for(size));
    return name.fd < 0 ? none : name;
}

void rec_node_withdraw(struct rec_node_name *name)
{
    if (name->nonce)
        close((int)name->fd);
    name->nonce = 0;
}

static bool is_link(const char *path, const char *expected)
{
    char there[2 * NAME_BYTES];
    ssize_t length = readlink(path, there, sizeof there);
    return length == (ssize_t)strlen(expected) && memcmp(there, expected, (size_t)length) == 0;
}

/* -1 without it, or if numbers of processes in /proc are not those that processes have here. */
static int open_memory(const struct rec_node_name *name)
{
    char path[NAME_BYTES], text[NAME_BYTES], link[2 * NAME_BYTES], own[NAME_BYTES];
    snprintf(own, sizeof own, "%d", (int)getpid());
    snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%" PRId64, name->process, name->fd);
    write_name(text, name->nonce);
    snprintf(link, sizeof link, "/memfd:%s (deleted)", text);
    if (!is_link("/proc/self", own) || !is_link(path, link))
        return -1;
    return rfn_above_standard(open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC));
}

/* All of it. The head and the rank's boxes get their room now: where there is none, later it would
 * be SIGBUS. */
static void *map_memory(const struct rec_node_name *name, int rank, size_t bytes)
{
    const size_t own = bytes_for(1);
    struct stat status;
    int fd = open_memory(name);
    if (fd < 0)
        return NULL;
    const bool whole = fstat(fd, &status) == 0 && status.st_size == (off_t)bytes &&
                       fallocate(fd, 0, 0, HEAD_BYTES) == 0 &&
                       fallocate(fd, 0, (off_t)(HEAD_BYTES + (size_t)rank * own), (off_t)own) == 0;
    void *memory = whole ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                         : MAP_FAILED;
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

bool rec_node_join(struct rec_node_exchange *exchange, const struct rec_node_name *name, int rank,
                   int size)
{
    *exchange = (struct rec_node_exchange){
        .exchange = {.rank = rank,
                     .size = size,
                     .near = true,
                     .context = exchange,
                     .send = send_bytes,
                     .receive = receive_bytes,
                     .tell = tell},
        .bytes = HEAD_BYTES + bytes_for(size),
    };
    if (!name->nonce)
        return false;
    exchange->memory = map_memory(name, rank, exchange->bytes);
    if (exchange->memory)
        exchange->memory->boxes[(size_t)rank * BOXES].process = (uint64_t)getpid();
    return exchange->memory;
}

void rec_node_leave(struct rec_node_exchange *exchange)
{
    if (exchange->memory)
        munmap(exchange->memory, exchange->bytes);
    exchange->memory = NULL;
}

uint64_t rec_node_claim(struct rec_node_exchange *exchange, uint64_t amount)
{
    return __atomic_fetch_add(&exchange->memory->claimed, amount, __ATOMIC_ACQ_REL);
}

uint64_t rec_node_claimed(const struct rec_node_exchange *exchange)
{
    return __atomic_load_n(&exchange->memory->claimed, __ATOMIC_ACQUIRE);
}
