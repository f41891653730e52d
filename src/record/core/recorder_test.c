/* Call hashes are the same wherever a path stands, others for other functions and frames.
 * A listener is told of each call, with its words, when its exit is final, also of those that
 * become no events; but not once recording has stopped. */
#include "record/core/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CALLS_MAX = 2000 }; /* more than the backlog holds */

static struct {
    const struct rec_stream *stream;
    uint32_t n, functions[CALLS_MAX];
    int64_t counts[CALLS_MAX], outcomes[CALLS_MAX];
    uint64_t exits[CALLS_MAX];
    bool off[CALLS_MAX];
} heard;

static void listen(const struct rec_call *call, const struct rec_stream *stream)
{
    heard.stream = stream;
    heard.functions[heard.n] = call->function;
    heard.counts[heard.n] = call->in[1];
    heard.outcomes[heard.n] = call->out[0];
    heard.off[heard.n] = call->off;
    heard.exits[heard.n++] = call->exit;
}

static struct rec_stream *stream_new(void)
{
    const struct rfn_stream_options options = {.functions = rec_functions, .times = true};
    struct rec_stream *stream = aligned_alloc(REC_CACHE_LINE, sizeof *stream);
    assert_non_null(stream);
    memset(stream, 0, sizeof *stream);
    stream->events = rfn_stream_new(&options);
    assert_non_null(stream->events);
    heard.n = 0;
    rec_state = REC_RECORDING;
    return stream;
}

/* Flushes the stream, which is to have so many events. */
static void stream_free(struct rec_stream *stream, uint64_t events)
{
    assert_int_equal(rfn_stream_flush(stream->events), 0);
    assert_int_equal(rfn_stream_events(stream->events), events);
    rfn_stream_free(stream->events);
    free(stream);
    rec_listen = NULL;
}

static void receive(struct rec_stream *stream, int64_t count)
{
    struct rec_call *call = &stream->call;
    stream->inside = true;
    call->function = REC_FN_MPI_Recv;
    call->rc = MPI_SUCCESS;
    call->in[1] = count;
    call->out[0] = 3 * count;
    call->enter = call->exit + 7;
    call->exit = call->enter + 5;
    rec_leave(call);
    assert_false(stream->inside);
}

static void test_listens(void **state)
{
    (void)state;
    struct rec_stream *stream = stream_new();
    receive(stream, 50); /* nobody listens yet */
    rec_listen = listen;
    for (uint32_t i = 0; i < CALLS_MAX; i++) {
        const uint64_t enter = stream->call.exit + 7;
        receive(stream, i % 5);
        assert_int_equal(heard.n, i + 1);
        assert_int_equal(heard.functions[i], REC_FN_MPI_Recv);
        assert_int_equal(heard.counts[i], i % 5);
        assert_int_equal(heard.outcomes[i], 3 * (i % 5));
        assert_true(heard.exits[i] >= enter + 5); /* later where the stream took long */
        assert_int_equal(heard.exits[i], stream->call.exit);
    }
    assert_ptr_equal(heard.stream, stream);
    rec_listen = NULL;
    receive(stream, 50);
    assert_int_equal(heard.n, CALLS_MAX);
    stream_free(stream, CALLS_MAX + 2);
}

static void test_not_told(void **state)
{
    (void)state;
    struct rec_stream *stream = stream_new();
    rec_listen = listen;
    stream->call.off = true;
    receive(stream, 1);
    stream->call.off = false;
    receive(stream, 2);
    rec_state = REC_STOPPED;
    receive(stream, 3);
    assert_int_equal(heard.n, 2);
    assert_true(heard.off[0] && !heard.off[1]);
    assert_int_equal(heard.counts[1], 2);
    stream_free(stream, 1);
    rec_state = REC_ASLEEP;
}

/* Where only samples are kept, calls are told of and become no events, but those of setup. */
static void test_only_samples(void **state)
{
    (void)state;
    struct rec_stream *stream = stream_new();
    rec_listen = listen;
    rec_only_samples = true;
    receive(stream, 1);
    receive(stream, 2);
    assert_int_equal(heard.n, 2);
    assert_int_equal(rec_functions[REC_FN_MPI_Init].class_, RFN_CLASS_SETUP);
    stream->call.function = REC_FN_MPI_Init;
    rec_leave(&stream->call);
    rec_only_samples = false;
    assert_int_equal(heard.n, 3);
    stream_free(stream, 1);
    rec_state = REC_ASLEEP;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_listens),
                                       cmocka_unit_test(test_not_told),
                                       cmocka_unit_test(test_only_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
