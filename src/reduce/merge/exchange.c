#include "reduce/merge/exchange.h"

#include <zstd.h>

void rfn_exchange_hold(struct rfn_exchange *exchange, int64_t bytes)
{
    exchange->held += (uint64_t)bytes;
    if (exchange->held > exchange->peak)
        exchange->peak = exchange->held;
}

/* A message is a status byte and, unless that says failed, its content, as it is or compressed. */
enum { AS_IT_IS, FAILED, COMPRESSED };

/* Less gains nothing; more would hold memory for long. */
enum { COMPRESS_LEAST = 64, COMPRESS_MOST = 1 << 16 };

/* Whether it could be compressed. */
static bool compress(const struct rfn_buf *content, struct rfn_buf *message)
{
    if (content->size < COMPRESS_LEAST || content->size > COMPRESS_MOST)
        return false;
    uint8_t *to = rfn_buf_reserve(message, content->size);
    if (!to)
        return false;
    to[0] = COMPRESSED;
    size_t size = ZSTD_compress(to + 1, content->size - 1, content->data, content->size, 1);
    if (ZSTD_isError(size))
        return false;
    message->size = 1 + size;
    return true;
}

/* Puts what was received compressed in the place of the message. */
static int decompress(struct rfn_buf *message)
{
    struct rfn_buf whole = RFN_BUF_INIT;
    unsigned long long size = ZSTD_getFrameContentSize(message->data + 1, message->size - 1);
    if (size > COMPRESS_MOST)
        return RFN_E_EXCHANGE;
    uint8_t *to = rfn_buf_reserve(&whole, size + 1);
    if (!to)
        return RFN_E_NOMEM;
    to[0] = AS_IT_IS;
    whole.size = size + 1;
    bool right = ZSTD_decompress(to + 1, size, message->data + 1, message->size - 1) == size;
    rfn_buf_release(message);
    *message = whole;
    return right ? 0 : RFN_E_EXCHANGE;
}

static int send_message(struct rfn_exchange *exchange, int to, const struct rfn_buf *content,
                        int error)
{
    struct rfn_buf message = RFN_BUF_INIT;
    bool failed = error < 0 || content->failed;
    if (failed || !compress(content, &message)) {
        rfn_buf_u8(&message, failed ? FAILED : AS_IT_IS);
        if (!failed)
            rfn_buf_bytes(&message, content->data, content->size);
    }
    if (message.failed) { /* no memory for the message: one byte on the stack says so */
        static const uint8_t failure = FAILED;
        rfn_buf_release(&message);
        RFN_TRY(exchange->send(exchange->context, to, &failure, 1));
        return RFN_E_NOMEM;
    }
    int64_t held = (int64_t)(message.capacity + content->capacity);
    rfn_exchange_hold(exchange, held);
    int sent = exchange->send(exchange->context, to, message.data, message.size);
    rfn_exchange_hold(exchange, -held);
    exchange->bytes_sent += message.size;
    exchange->messages_sent++;
    rfn_buf_release(&message);
    return sent;
}

/* Receives a message; its content begins at data[1]. Released by drop_message, whatever this
 * returns. */
static int receive_message(struct rfn_exchange *exchange, int from, struct rfn_buf *message)
{
    int received = exchange->receive(exchange->context, from, message);
    exchange->bytes_received += message->size;
    bool compressed = message->size > 1 && message->data[0] == COMPRESSED;
    if (!received && compressed)
        received = decompress(message);
    rfn_exchange_hold(exchange, (int64_t)message->capacity);
    RFN_TRY(received);
    RFN_TRY(rfn_buf_status(message));
    return message->size >= 1 && message->data[0] == AS_IT_IS ? 0 : RFN_E_EXCHANGE;
}

static void drop_message(struct rfn_exchange *exchange, struct rfn_buf *message)
{
    rfn_exchange_hold(exchange, -(int64_t)message->capacity);
    rfn_buf_release(message);
}

int rfn_exchange_tell(struct rfn_exchange *exchange, uint64_t *word)
{
    uint64_t told = *word;
    if (exchange->size == 1)
        return 0;
    RFN_TRY(exchange->tell(exchange->context, &told));
    *word = told;
    exchange->bytes_sent += exchange->rank ? sizeof told : 0;
    exchange->messages_sent += exchange->rank != 0;
    return 0;
}

/* ---- up ---- */

/* Where a parent shows what it has there are two messages between a child and it, whatever fails:
 * nobody waits for one that does not come. */
static int hand_up(struct rfn_exchange *exchange, const struct rfn_round *round, void *state,
                   int parent, int error)
{
    struct rfn_buf out = RFN_BUF_INIT, shown = RFN_BUF_INIT;
    if (round->show) {
        int received = receive_message(exchange, parent, &shown);
        error = error ? error : received;
        if (!error)
            error = round->heed(state, shown.data + 1, shown.size - 1);
        drop_message(exchange, &shown);
    }
    if (!error)
        error = round->write(state, &out);
    int sent = send_message(exchange, parent, &out, error);
    rfn_buf_release(&out);
    return error ? error : sent;
}

static int take_in(struct rfn_exchange *exchange, const struct rfn_round *round, void *state,
                   int child, int from, int error)
{
    struct rfn_buf message = RFN_BUF_INIT, shown = RFN_BUF_INIT;
    if (round->show) {
        if (!error)
            error = round->show(state, &shown);
        int sent = send_message(exchange, from, &shown, error);
        error = error ? error : sent;
        rfn_buf_release(&shown);
    }
    int received = receive_message(exchange, from, &message);
    error = error ? error : received;
    if (!error)
        error = round->merge(state, child, message.data + 1, message.size - 1);
    drop_message(exchange, &message);
    return error;
}

int rfn_exchange_climb(struct rfn_exchange *exchange, const struct rfn_round *round, void *state,
                       int error)
{
    int rank = exchange->rank, child = 0;
    for (int step = 1; step < exchange->size; step *= 2) {
        if (rank & step)
            return hand_up(exchange, round, state, rank - step, error);
        if (rank + step < exchange->size)
            error = take_in(exchange, round, state, child++, rank + step, error);
    }
    return error;
}

/* Callbacks that do not ask which child it is. */
struct plain {
    int (*merge)(void *state, const uint8_t *bytes, size_t size);
    int (*write)(void *state, struct rfn_buf *out);
    void *state;
};

static int plain_merge(void *state, int child, const uint8_t *bytes, size_t size)
{
    const struct plain *plain = state;
    (void)child;
    return plain->merge(plain->state, bytes, size);
}

static int plain_write(void *state, struct rfn_buf *out)
{
    const struct plain *plain = state;
    return plain->write(plain->state, out);
}

int rfn_exchange_up(struct rfn_exchange *exchange,
                    int (*merge)(void *state, const uint8_t *bytes, size_t size),
                    int (*write)(void *state, struct rfn_buf *out), void *state)
{
    static const struct rfn_round round = {.merge = plain_merge, .write = plain_write};
    struct plain plain = {merge, write, state};
    return rfn_exchange_climb(exchange, &round, &plain, 0);
}

int rfn_exchange_parent_step(const struct rfn_exchange *exchange)
{
    int step = 1;
    while (step < exchange->size && !(exchange->rank & step))
        step *= 2;
    return step;
}

int rfn_exchange_down(struct rfn_exchange *exchange, struct rfn_buf *bytes, int error)
{
    int step = rfn_exchange_parent_step(exchange);
    if (exchange->rank != 0) {
        struct rfn_buf message = RFN_BUF_INIT;
        error = receive_message(exchange, exchange->rank - step, &message);
        if (!error) {
            rfn_buf_bytes(bytes, message.data + 1, message.size - 1);
            error = rfn_buf_status(bytes);
        }
        drop_message(exchange, &message);
    }
    for (step /= 2; step >= 1; step /= 2) {
        if (exchange->rank + step < exchange->size) {
            int sent = send_message(exchange, exchange->rank + step, bytes, error);
            error = error ? error : sent;
        }
    }
    return error;
}

/* ---- rounds ---- */

/* From the parent. A message that says that something failed is an error, too. */
static int round_receive(struct rfn_exchange *exchange, const struct rfn_round *round, void *state,
                         int step)
{
    struct rfn_buf message = RFN_BUF_INIT;
    int error = receive_message(exchange, exchange->rank - step, &message);
    if (!error)
        error = round->read_down(state, message.data + 1, message.size - 1);
    drop_message(exchange, &message);
    return error;
}

int rfn_exchange_round(struct rfn_exchange *exchange, const struct rfn_round *round, void *state,
                       int error)
{
    int step = rfn_exchange_parent_step(exchange), child = 0;
    error = rfn_exchange_climb(exchange, round, state, error);
    if (exchange->rank != 0) {
        int down = round_receive(exchange, round, state, step);
        error = error ? error : down;
    } else if (!error && round->turn) {
        error = round->turn(state);
    }
    for (int s = 1; s < step; s *= 2) {
        if (exchange->rank + s >= exchange->size)
            break;
        struct rfn_buf message = RFN_BUF_INIT;
        int written = error ? error : round->write_down(state, child++, &message);
        int sent = send_message(exchange, exchange->rank + s, &message, written);
        rfn_buf_release(&message);
        error = error ? error : written ? written : sent;
    }
    return error;
}
