#include "reduce/exchange.h"

void rfn_exchange_hold(struct rfn_exchange *exchange, int64_t bytes)
{
    exchange->held += (uint64_t)bytes;
    if (exchange->held > exchange->peak)
        exchange->peak = exchange->held;
}

/* A message is a status byte (0 or 1: failed) and, when 0, its content. */

static int send_message(struct rfn_exchange *exchange, int to, const struct rfn_buf *content,
                        int error)
{
    struct rfn_buf message = RFN_BUF_INIT;
    bool failed = error < 0 || content->failed;
    rfn_buf_u8(&message, failed);
    if (!failed)
        rfn_buf_bytes(&message, content->data, content->size);
    if (message.failed) { /* no memory for the message: one byte on the stack says so */
        static const uint8_t failure = 1;
        rfn_buf_release(&message);
        RFN_TRY(exchange->send(exchange->context, to, &failure, 1));
        return RFN_E_NOMEM;
    }
    int64_t held = (int64_t)(message.capacity + content->capacity);
    rfn_exchange_hold(exchange, held);
    int sent = exchange->send(exchange->context, to, message.data, message.size);
    rfn_exchange_hold(exchange, -held);
    exchange->bytes_sent += message.size;
    rfn_buf_release(&message);
    return sent;
}

/* Receives a message; its content begins at data[1]. Released by drop_message, whatever this
 * returns. */
static int receive_message(struct rfn_exchange *exchange, int from, struct rfn_buf *message)
{
    int received = exchange->receive(exchange->context, from, message);
    rfn_exchange_hold(exchange, (int64_t)message->capacity);
    RFN_TRY(received);
    RFN_TRY(rfn_buf_status(message));
    return message->size >= 1 && message->data[0] == 0 ? 0 : RFN_E_EXCHANGE;
}

static void drop_message(struct rfn_exchange *exchange, struct rfn_buf *message)
{
    rfn_exchange_hold(exchange, -(int64_t)message->capacity);
    rfn_buf_release(message);
}

int rfn_exchange_up(struct rfn_exchange *exchange,
                    int (*merge)(void *state, const uint8_t *bytes, size_t size),
                    int (*write)(void *state, struct rfn_buf *out), void *state)
{
    int rank = exchange->rank, error = 0;
    for (int step = 1; step < exchange->size; step *= 2) {
        if (rank & step) {
            struct rfn_buf out = RFN_BUF_INIT;
            if (!error)
                error = write(state, &out);
            int sent = send_message(exchange, rank - step, &out, error);
            rfn_buf_release(&out);
            return error ? error : sent;
        }
        if (rank + step < exchange->size) {
            struct rfn_buf message = RFN_BUF_INIT;
            int received = receive_message(exchange, rank + step, &message);
            if (!error)
                error = received ? received : merge(state, message.data + 1, message.size - 1);
            drop_message(exchange, &message);
        }
    }
    return error;
}

/* The largest step at which rank has children or a parent: its lowest set bit, or for rank 0 the
 * first power of two that is not below size. */
static int parent_step(const struct rfn_exchange *exchange)
{
    int step = 1;
    while (step < exchange->size && !(exchange->rank & step))
        step *= 2;
    return step;
}

int rfn_exchange_down(struct rfn_exchange *exchange, struct rfn_buf *bytes, int error)
{
    int step = parent_step(exchange);
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

struct way_up {
    const struct rfn_round *round;
    void *state;
    int n_children, error;
};

static int round_merge(void *state, const uint8_t *bytes, size_t size)
{
    struct way_up *way = state;
    int child = way->n_children++;
    return way->error ? way->error : way->round->merge(way->state, child, bytes, size);
}

static int round_write(void *state, struct rfn_buf *out)
{
    struct way_up *way = state;
    return way->error ? way->error : way->round->write(way->state, out);
}

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
    struct way_up way = {.round = round, .state = state, .error = error};
    int up = rfn_exchange_up(exchange, round_merge, round_write, &way);
    error = error ? error : up;
    int step = parent_step(exchange), child = 0;
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
