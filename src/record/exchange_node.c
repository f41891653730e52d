#include "record/exchange_node.h"

#include "base/system.h"
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
enum { HEAD_BYTES = 1 << 16, NAME_BYTES = 64 };   /* whole pages, however large */
enum { PROCESSES = 15 << 10 };                    /* ranks whose processes are known */
enum { PATIENCE = 1 }; /* seconds, until it is asked whether the other process is still there */

struct slot {
    uint64_t total; /* bytes of the message, in each piece of it */
    uint8_t bytes[PIECE];
};

/* The room is zero when it is new: nothing has been put in. */
struct rec_node_box {
    uint32_t put, taken; /* pieces so far, modulo 2^32 */
    uint64_t unused;     /* a box is whole pages */
    struct slot slots[SLOTS];
};

_Static_assert(sizeof(struct rec_node_box) == BOX_BYTES, "boxes are not whole pages");

/* What all share. Zero when it is new. */
struct head {
    uint64_t claimed;
    int64_t last_came; /* ns */
    int64_t all_came;  /* ns: when that was told */
    uint64_t word;     /* rank 0's */
    uint64_t note[REC_NODE_NOTE];
    uint32_t noted;               /* UNNOTED, BEING_NOTED or NOTED */
    uint32_t come;                /* ranks so far */
    uint32_t all;                 /* whether these are all */
    uint32_t lacks;               /* what not all of them have said */
    uint32_t told;                /* whether one is to tell the user */
    int32_t processes[PROCESSES]; /* of those that have joined, by rank */
};

struct rec_node_memory {
    union {
        struct head head;
        uint8_t page[HEAD_BYTES];
    };
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
    const pid_t process = rank < PROCESSES ? exchange->memory->head.processes[rank] : 0;
    return process && kill(process, 0) < 0 && errno == ESRCH;
}

/* ns, while what others do goes on; the first of these where it does so here */
enum { SHORTEST_NAP = 62500, FIRST_NAP = 1000000, LONGEST_NAP = 16000000 };

/* Sleeps while the word has that value, but not for long where something is to be done meanwhile.
 * Whether it is time to look around; a signal of the program's may have come. */
static bool nap(const struct rec_node_exchange *exchange, uint32_t *word, uint32_t value,
                int64_t *nap_ns)
{
    const struct timespec time = {.tv_sec = exchange->meanwhile ? 0 : PATIENCE,
                                  .tv_nsec = exchange->meanwhile ? *nap_ns : 0};
    const long rc = syscall(SYS_futex, word, FUTEX_WAIT, value, &time, NULL, 0);
    if (rc == 0 || errno == EAGAIN)
        return false;
    if (exchange->meanwhile && exchange->meanwhile())
        *nap_ns = SHORTEST_NAP;
    else if (*nap_ns < LONGEST_NAP)
        *nap_ns *= 2;
    return true;
}

/* Until the counter of rank `other` is not `old` any more. RFN_E_EXCHANGE: that rank has ended. */
static int wait_for_change(const struct rec_node_exchange *exchange, int other, uint32_t *counter,
                           uint32_t old)
{
    int64_t nap_ns = FIRST_NAP;
    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) == old) {
        if (nap(exchange, counter, old, &nap_ns) && has_ended(exchange, other) &&
            __atomic_load_n(counter, __ATOMIC_ACQUIRE) == old)
            return RFN_E_EXCHANGE;
    }
    return 0;
}

static void count_on(uint32_t *counter)
{
    __atomic_store_n(counter, *counter + 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, counter, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- ranks that come one after the other ---- */

static void change(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

enum { UNNOTED, BEING_NOTED, NOTED };

bool rec_node_may_note(struct rec_node_exchange *exchange)
{
    uint32_t nobody = UNNOTED;
    return __atomic_compare_exchange_n(&exchange->memory->head.noted, &nobody, BEING_NOTED, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void rec_node_note(struct rec_node_exchange *exchange, const uint64_t note[REC_NODE_NOTE])
{
    struct head *head = &exchange->memory->head;
    memcpy(head->note, note, sizeof head->note);
    change(&head->noted, NOTED);
}

bool rec_node_noted(const struct rec_node_exchange *exchange, uint64_t note[REC_NODE_NOTE])
{
    const struct timespec moment = {.tv_nsec = 1000000};
    const struct head *head = &exchange->memory->head;
    for (int i = 0; i < 100 && __atomic_load_n(&head->noted, __ATOMIC_ACQUIRE) == BEING_NOTED; i++)
        syscall(SYS_futex, &head->noted, FUTEX_WAIT, BEING_NOTED, &moment, NULL, 0);
    const bool noted = __atomic_load_n(&head->noted, __ATOMIC_ACQUIRE) == NOTED;
    if (noted)
        memcpy(note, head->note, sizeof head->note);
    return noted;
}

bool rec_node_is_to_tell(struct rec_node_exchange *exchange)
{
    return !__atomic_exchange_n(&exchange->memory->head.told, 1, __ATOMIC_RELAXED);
}

void rec_node_come(struct rec_node_exchange *exchange, int64_t ns, unsigned says, uint64_t word)
{
    struct head *head = &exchange->memory->head;
    const uint32_t size = (uint32_t)exchange->exchange.size;
    int64_t last = __atomic_load_n(&head->last_came, __ATOMIC_RELAXED);
    while (last < ns && !__atomic_compare_exchange_n(&head->last_came, &last, ns, true,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
    __atomic_fetch_or(&head->lacks, ~says, __ATOMIC_ACQ_REL);
    if (exchange->exchange.rank == 0)
        head->word = word;
    if (__atomic_add_fetch(&head->come, 1, __ATOMIC_ACQ_REL) == size) {
        head->all_came = rec_monotonic_ns();
        change(&head->all, true);
    }
}

bool rec_node_are_all_here(const struct rec_node_exchange *exchange)
{
    return __atomic_load_n(&exchange->memory->head.all, __ATOMIC_ACQUIRE);
}

struct rec_node_all rec_node_wait_for_all(const struct rec_node_exchange *exchange)
{
    struct head *head = &exchange->memory->head;
    int64_t nap_ns = FIRST_NAP;
    while (!rec_node_are_all_here(exchange))
        nap(exchange, &head->all, false, &nap_ns);
    return (struct rec_node_all){.last_came = head->last_came,
                                 .came = head->all_came,
                                 .say = ~head->lacks,
                                 .word = head->word};
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

static int skip_bytes(void *context, int from)
{
    const struct rec_node_exchange *exchange = context;
    struct rec_node_box *box;
    const struct slot *slot;
    uint64_t at = 0, total;
    do {
        RFN_TRY(begin_piece(exchange, from, &box, &slot));
        total = slot->total;
        end_piece(box);
        at += piece_of(total - at);
    } while (at < total);
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

static void *map_memory(const struct rec_node_name *name, size_t bytes)
{
    struct stat status;
    int fd = open_memory(name);
    if (fd < 0)
        return NULL;
    const bool whole = fstat(fd, &status) == 0 && status.st_size == (off_t)bytes;
    void *memory = whole ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                         : MAP_FAILED;
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Of the head, and of this rank's boxes: where there is none, later it would be SIGBUS. */
static bool make_room(struct rec_node_memory *memory, int rank)
{
    return rfn_make_room(memory, HEAD_BYTES) &&
           rfn_make_room(&memory->boxes[(size_t)rank * BOXES], bytes_for(1));
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
                     .skip = skip_bytes,
                     .tell = tell},
        .bytes = HEAD_BYTES + bytes_for(size),
    };
    if (name->nonce)
        exchange->memory = map_memory(name, exchange->bytes);
    if (exchange->memory && !make_room(exchange->memory, rank))
        rec_node_leave(exchange);
    if (exchange->memory && rank < PROCESSES)
        exchange->memory->head.processes[rank] = getpid();
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
    return __atomic_fetch_add(&exchange->memory->head.claimed, amount, __ATOMIC_ACQ_REL);
}

uint64_t rec_node_claimed(const struct rec_node_exchange *exchange)
{
    return __atomic_load_n(&exchange->memory->head.claimed, __ATOMIC_ACQUIRE);
}
