#include "reduce/exchange.h"

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
    int sent = exchange->send(exchange->context, to, message.data, message.size);
    exchange->bytes_sent += message.size;
    rfn_buf_release(&message);
    return sent;
}

/* Receives a message; its content begins at data[1]. */
static int receive_message(struct rfn_exchange *exchange, int from, struct rfn_buf *message)
{
    RFN_TRY(exchange->receive(exchange->context, from, message));
    RFN_TRY(rfn_buf_status(message));
    return message->size >= 1 && message->data[0] == 0 ? 0 : RFN_E_EXCHANGE;
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
            rfn_buf_release(&message);
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
        rfn_buf_release(&message);
    }
    for (step /= 2; step >= 1; step /= 2) {
        if (exchange->rank + step < exchange->size) {
            int sent = send_message(exchange, exchange->rank + step, bytes, error);
            error = error ? error : sent;
        }
    }
    return error;
}

/* ---- scan: sums go up, what stands before a subtree comes down ---- */

struct scan {
    uint64_t sum;        /* of this rank and the children merged so far */
    uint64_t before[32]; /* sum before the child of each step, within this subtree */
    int n_children;
    int error;
};

static int scan_merge(void *state, const uint8_t *bytes, size_t size)
{
    struct scan *scan = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    scan->before[scan->n_children++] = scan->sum;
    scan->sum += rfn_reader_varint(&reader);
    return reader.failed ? RFN_E_EXCHANGE : 0;
}

static int scan_write(void *state, struct rfn_buf *out)
{
    struct scan *scan = state;
    rfn_buf_varint(out, scan->sum);
    return scan->error;
}

static void scan_message(struct rfn_buf *out, uint64_t before, uint64_t total)
{
    rfn_buf_varint(out, before);
    rfn_buf_varint(out, total);
}

int rfn_exchange_scan(struct rfn_exchange *exchange, uint64_t mine, int error, uint64_t *before,
                      uint64_t *total)
{
    struct scan scan = {.sum = mine, .error = error};
    int up = rfn_exchange_up(exchange, scan_merge, scan_write, &scan);
    error = error ? error : up;
    *before = 0;
    *total = scan.sum;
    int step = parent_step(exchange);
    if (exchange->rank != 0) {
        struct rfn_buf message = RFN_BUF_INIT;
        int received = receive_message(exchange, exchange->rank - step, &message);
        struct rfn_reader reader = rfn_reader_over(message.data, message.size);
        rfn_reader_u8(&reader);
        *before = rfn_reader_varint(&reader);
        *total = rfn_reader_varint(&reader);
        error = error ? error : received ? received : reader.failed ? RFN_E_EXCHANGE : 0;
        rfn_buf_release(&message);
    }
    for (step /= 2; step >= 1; step /= 2) {
        if (exchange->rank + step >= exchange->size)
            continue;
        struct rfn_buf message = RFN_BUF_INIT;
        scan_message(&message, *before + scan.before[--scan.n_children & 31], *total);
        int sent = send_message(exchange, exchange->rank + step, &message, error);
        error = error ? error : sent;
        rfn_buf_release(&message);
    }
    return error;
}
