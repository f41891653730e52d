#include "record/exchange_node.h"

#include "record/clock.h"
#include "record/output.h"
#include "record/say.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = (1 << 16) - 64, SLOTS = 2 };
enum { TO_PARENT, FROM_PARENT, TO_FIRST, BOXES }; /* of a rank */
enum { SPIN_NS = 50000 };                         /* longer than it takes to wake up */
enum { NAME_BYTES = 64 };

struct slot {
    uint64_t total; /* bytes of the message; of its first piece */
    uint8_t bytes[PIECE];
};

struct rec_node_box {
    sem_t empty, full; /* slots */
    unsigned sent;     /* pieces so far, modulo 2^n: the sender's */
    unsigned taken;    /* the receiver's */
    struct slot slots[SLOTS];
};

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
        return &exchange->boxes[(size_t)from * BOXES + TO_PARENT];
    if (to > 0 && from == parent_of(to))
        return &exchange->boxes[(size_t)to * BOXES + FROM_PARENT];
    return from > 0 && to == 0 ? &exchange->boxes[(size_t)from * BOXES + TO_FIRST] : NULL;
}

static int wait_for(const struct rec_node_exchange *exchange, sem_t *semaphore)
{
    const int64_t until = exchange->spins ? rec_monotonic_ns() + SPIN_NS : 0;
    while (exchange->spins && rec_monotonic_ns() < until) {
        if (sem_trywait(semaphore) == 0)
            return 0;
    }
    while (sem_wait(semaphore) < 0) {
        if (errno != EINTR)
            return RFN_E_EXCHANGE;
    }
    return 0;
}

static size_t piece_of(uint64_t left)
{
    return left < PIECE ? (size_t)left : PIECE;
}

/* The next piece of a message of `total` bytes. */
static int put_piece(const struct rec_node_exchange *exchange, struct rec_node_box *box,
                     uint64_t total, const uint8_t *bytes, size_t size)
{
    RFN_TRY(wait_for(exchange, &box->empty));
    struct slot *slot = &box->slots[box->sent++ % SLOTS];
    slot->total = total;
    if (size > 0)
        memcpy(slot->bytes, bytes, size);
    sem_post(&box->full);
    return 0;
}

/* The piece that is to be taken next, when it is there; until end_piece. */
static int begin_piece(const struct rec_node_exchange *exchange, struct rec_node_box *box,
                       const struct slot **piece)
{
    RFN_TRY(wait_for(exchange, &box->full));
    *piece = &box->slots[box->taken++ % SLOTS];
    return 0;
}

static void end_piece(struct rec_node_box *box)
{
    sem_post(&box->empty);
}

static int send_bytes(void *context, int to, const void *bytes, size_t size)
{
    const struct rec_node_exchange *exchange = context;
    struct rec_node_box *box = box_between(exchange, exchange->exchange.rank, to);
    size_t at = 0, piece;
    if (!box)
        return RFN_E_EXCHANGE;
    do {
        piece = piece_of(size - at);
        RFN_TRY(put_piece(exchange, box, size, (const uint8_t *)bytes + at, piece));
        at += piece;
    } while (at < size);
    return 0;
}

/* A receiver without memory takes all pieces nevertheless: the sender must not wait for ever. */
static int receive_bytes(void *context, int from, struct rfn_buf *bytes)
{
    const struct rec_node_exchange *exchange = context;
    struct rec_node_box *box = box_between(exchange, from, exchange->exchange.rank);
    const struct slot *slot;
    uint64_t at = 0, total = 0;
    uint8_t *to = NULL;
    if (!box)
        return RFN_E_EXCHANGE;
    do {
        RFN_TRY(begin_piece(exchange, box, &slot));
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
    int step = 1;
    while (step < size && !(rank & step))
        step *= 2;
    if (rank > 0) {
        struct rec_node_box *box = box_between(exchange, parent_of(rank), rank);
        const struct slot *slot;
        RFN_TRY(begin_piece(exchange, box, &slot));
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

static size_t bytes_for(int size)
{
    return (size_t)size * BOXES * sizeof(struct rec_node_box);
}

/* What a link in /proc says of it, from where memfd_create's name begins in it. */
static void write_link(char link[NAME_BYTES], uint64_t nonce, size_t *name_at)
{
    *name_at = strlen("/memfd:");
    snprintf(link, NAME_BYTES, "/memfd:refrain-%016" PRIx64 " (deleted)", nonce);
}

/* -1: the program may be limited in how large its files are, or how many. */
static int create_memory(const char *name, size_t bytes)
{
    struct rec_signals signals;
    int fd = rec_above_standard(memfd_create(name, MFD_CLOEXEC));
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
    char link[NAME_BYTES];
    size_t at;
    write_link(link, name.nonce, &at);
    link[strlen(link) - strlen(" (deleted)")] = 0;
    name.fd = create_memory(link + at, bytes_for(size));
    return name.fd < 0 ? none : name;
}

void rec_node_withdraw(const struct rec_node_name *name)
{
    if (name->nonce)
        close((int)name->fd);
}

/* -1 without it. */
static int open_memory(const struct rec_node_name *name)
{
    char path[NAME_BYTES], link[NAME_BYTES], there[NAME_BYTES];
    size_t at;
    snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%" PRId64, name->process, name->fd);
    write_link(link, name->nonce, &at);
    ssize_t length = readlink(path, there, sizeof there);
    if (length != (ssize_t)strlen(link) || memcmp(there, link, (size_t)length) != 0)
        return -1;
    return open(path, O_RDWR | O_CLOEXEC);
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
        .bytes = bytes_for(size),
        .spins = size <= sysconf(_SC_NPROCESSORS_ONLN),
    };
    if (!name->nonce)
        return false;
    exchange->boxes = map_memory(name, exchange->bytes);
    for (int i = 0; exchange->boxes && i < BOXES; i++) {
        struct rec_node_box *box = &exchange->boxes[(size_t)rank * BOXES + (size_t)i];
        if (sem_init(&box->empty, 1, SLOTS) < 0 || sem_init(&box->full, 1, 0) < 0)
            rec_node_leave(exchange);
    }
    return exchange->boxes;
}

void rec_node_leave(struct rec_node_exchange *exchange)
{
    if (exchange->boxes)
        munmap(exchange->boxes, exchange->bytes);
    exchange->boxes = NULL;
}
