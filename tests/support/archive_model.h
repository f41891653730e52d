/* archive_model.h - a small run made by plain loops, and a writer that makes an archive of it.
 *
 * For tests. The writer follows refrain-archive(5) and shares nothing with the recorder's but the
 * container and the columns, so that a mistake in either shows. It can also write archives that
 * contradict themselves under right checksums. To be included by one program.
 */
#ifndef RFN_TESTS_SUPPORT_ARCHIVE_MODEL_H
#define RFN_TESTS_SUPPORT_ARCHIVE_MODEL_H

#include "archive/container.h"
#include "archive/read/reader.h"
#include "event/datatype.h"
#include "event/kind.h"
#include "reduce/columns/column.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* ---- the model: four ranks, the last with two threads ---- */

enum { N_STREAMS = 5, N_GROUPS = 2, N_SETS = 3, N_RANKS = 4, EVENTS_CAPACITY = 256 };
enum { INIT, SPLIT, SEND, RECV, TEST, ALLTOALLW, FINALIZE, N_SYMBOLS };
enum { LISTS = 4 };

struct model_event {
    int symbol;
    int64_t in[8], out[4];
    uint64_t enter, exit; /* quanta */
    int64_t polls;
    uint64_t inside;
    int64_t volume_gap, volume_inside;
};

/* Words as the file has them: local datatypes and communicators. */
struct model_stream {
    uint32_t rank, thread, group, set, host;
    size_t n;
    uint64_t calls, start;
    struct model_event events[EVENTS_CAPACITY];
    int64_t trips[2][16];
    size_t n_trips[2];
};

static struct model_stream model[N_STREAMS];

struct schema {
    const char *name;
    uint8_t n_in, n_out;
    struct {
        const char *name;
        uint8_t kind;
    } params[10];
};

static const struct schema schemas[N_SYMBOLS] = {
    {"MPI_Init", 0, 0, {{0}}},
    {"MPI_Comm_split",
     3,
     1,
     {{"comm", RFN_KIND_COMM},
      {"color", RFN_KIND_PLACE},
      {"key", RFN_KIND_PLACE},
      {"newcomm", RFN_KIND_COMM}}},
    {"MPI_Send",
     5,
     0,
     {{"count", RFN_KIND_COUNT},
      {"datatype", RFN_KIND_TYPE},
      {"dest", RFN_KIND_RANK},
      {"tag", RFN_KIND_TAG},
      {"comm", RFN_KIND_COMM}}},
    {"MPI_Recv",
     5,
     3,
     {{"count", RFN_KIND_COUNT},
      {"datatype", RFN_KIND_TYPE},
      {"source", RFN_KIND_RANK},
      {"tag", RFN_KIND_TAG},
      {"comm", RFN_KIND_COMM},
      {"source", RFN_KIND_RANK},
      {"tag", RFN_KIND_TAG},
      {"bytes", RFN_KIND_BYTES}}},
    {"MPI_Test",
     1,
     2,
     {{"request", RFN_KIND_REQUEST}, {"flag", RFN_KIND_FLAG}, {"done", RFN_KIND_COMPLETIONS}}},
    {"MPI_Alltoallw",
     3,
     1,
     {{"sendtypes", RFN_KIND_LIST | RFN_KIND_TYPE},
      {"recvcounts", RFN_KIND_LIST | RFN_KIND_COUNT},
      {"comm", RFN_KIND_COMM},
      {"type", RFN_KIND_TYPE}}},
    {"MPI_Finalize", 0, 0, {{0}}},
};

static uint8_t model_classes[N_SYMBOLS] = {
    [SEND] = RFN_CLASS_SEND, [RECV] = RFN_CLASS_RECV, [TEST] = RFN_CLASS_COMPLETION};

/* Set by a test before it writes: of the exchange only times vary. */
static bool model_steady;
/* The same, and then the loop around the exchange has four steady calls between two visits of the
 * exchange. */
static bool model_around;
/* Quanta by which the last event of a stream ends later (or, < 0, earlier) than its times say, as
 * STREAMS has it; 0: it says nothing. */
static int64_t model_late;

/* Events from one time mark to the next; 0: there are none. One of them (from 1 on) is wrong by
 * some quanta; with model_all_off all behind it are, too. */
static uint64_t model_marks, model_wrong_mark;
static int64_t model_mark_off;
static bool model_all_off;

/* Inputs that are columns: count of Send, comm of Recv (varies between two communicators). */
static uint32_t moved_of(int symbol)
{
    if (model_steady)
        return 0;
    return symbol == SEND ? 1 : symbol == RECV ? 1 << 4 : 0;
}

static const int64_t list_words[LISTS][6] = {{0, 1, 0, -1}, {5, 6, 7, 8}, {3, 1, 4, 1, 5, 0}, {2}};
static const size_t list_lengths[LISTS] = {4, 4, 6, 1};

static uint64_t noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static struct model_event *add_event(struct model_stream *stream, int symbol, uint64_t *state)
{
    assert_true(stream->n < EVENTS_CAPACITY);
    struct model_event *event = &stream->events[stream->n];
    uint64_t before = stream->n ? event[-1].exit : stream->start;
    *event = (struct model_event){.symbol = symbol, .polls = 1};
    event->enter = before + 3 * (noise(state) % 1000);
    event->exit = event->enter + 3 * (noise(state) % 500);
    event->inside = event->exit - event->enter;
    if (symbol == TEST) {
        event->polls = 1 + (int64_t)(noise(state) % 9);
        event->inside = event->inside / 6 * 3;
    }
    event->volume_gap = (int64_t)(noise(state) % 100000);
    event->volume_inside = symbol == SPLIT ? 0 : (int64_t)(noise(state) % 70);
    stream->calls += (uint64_t)event->polls;
    stream->n++;
    return event;
}

static void set_words(int64_t *words, size_t n, ...)
{
    va_list args;
    va_start(args, n);
    for (size_t i = 0; i < n; i++)
        words[i] = va_arg(args, int64_t);
    va_end(args);
}

#define W(word) ((int64_t)(word))

/* Two calls of which only times vary. */
static void model_steady_pair(struct model_stream *stream, uint64_t *state)
{
    struct model_event *event = add_event(stream, SEND, state);
    set_words(event->in, 5, W(10), W(1), W((stream->rank / 2 + 1) % 2), W(7), W(2));
    event = add_event(stream, RECV, state);
    set_words(event->in, 5, W(64), W(2), W(RFN_ANY), W(RFN_ANY), W(0));
    set_words(event->out, 3, W(RFN_AS_POSTED), W(7), W(400));
}

static void model_alltoallw(struct model_stream *stream, int64_t type, uint64_t *state)
{
    struct model_event *event = add_event(stream, ALLTOALLW, state);
    set_words(event->in, 3, W(1), W(2), W(0));
    event->out[0] = type;
}

/* L0: the exchange; count and communicator vary. Communicator 0 is the world, 2 the half that the
 * rank is in (even or odd ranks). */
static void model_exchange(struct model_stream *stream, int times, uint64_t *state)
{
    stream->trips[0][stream->n_trips[0]++] = times;
    for (int i = 0; i < times; i++) {
        if (model_steady) {
            model_steady_pair(stream, state);
            continue;
        }
        struct model_event *event = add_event(stream, SEND, state);
        set_words(event->in, 5, W(10 + (stream->n * 7) % 5), W(1), W((stream->rank / 2 + 1) % 2),
                  W(7), W(2));
        event = add_event(stream, RECV, state);
        set_words(event->in, 5, W(64), W(2), W(stream->rank == 0 ? RFN_ANY : (int)stream->rank - 1),
                  W(RFN_ANY), W(stream->n % 3 ? 0 : 2));
        set_words(event->out, 3, W(RFN_AS_POSTED), W(7 + i),
                  W(stream->n % 2 ? RFN_AS_POSTED : 400));
    }
}

/* top = INIT SPLIT L1 ALLTOALLW L0 FINALIZE, L1 = L0 TEST, or L0 SEND RECV ALLTOALLW FINALIZE L0
 * TEST.
 */
static void model_main(struct model_stream *stream, const int *exchanges, int n, int last)
{
    uint64_t state = 17; /* the same values for the same set, except for times */
    uint64_t times = stream->rank + 1;
    add_event(stream, INIT, &times);
    struct model_event *event = add_event(stream, SPLIT, &times);
    set_words(event->in, 3, W(0), W(stream->rank % 2), W(100 - (int)stream->rank));
    event->out[0] = 2;
    stream->trips[1][stream->n_trips[1]++] = n;
    for (int i = 0; i < n; i++) {
        model_exchange(stream, exchanges[i], &times);
        if (model_around) {
            model_steady_pair(stream, &times);
            model_alltoallw(stream, 1, &times);
            add_event(stream, FINALIZE, &times);
            model_exchange(stream, 0, &times);
        }
        event = add_event(stream, TEST, &times);
        event->in[0] = rfn_request_word(RFN_REQUEST_RECENT, 1);
        event->out[1] = i % 2 ? 3 : 0;
    }
    model_alltoallw(stream, model_around ? 1 : (int64_t)(noise(&state) % 2), &times);
    model_exchange(stream, last, &times);
    add_event(stream, FINALIZE, &times);
}

static void make_model(void)
{
    static const int first[] = {2, 0, 4}, second[] = {5, 1};
    memset(model, 0, sizeof model);
    for (uint32_t i = 0; i < N_STREAMS; i++) {
        struct model_stream *stream = &model[i];
        stream->rank = i < N_RANKS ? i : N_RANKS - 1;
        stream->thread = i < N_RANKS ? 0 : 1;
        stream->host = stream->rank / 2;
        stream->group = i < N_RANKS ? 0 : 1;
        stream->set = i < 3 ? 0 : i - 2;
        stream->start = 1000 + 30 * i;
        if (i < 3)
            model_main(stream, first, 3, 1);
        else if (i == 3)
            model_main(stream, second, 2, 0);
        else
            add_event(stream, INIT, &(uint64_t){99});
    }
}

/* ---- writing: payloads as the page defines them ---- */

/* What is wrong with an archive on purpose; its checksums are right. SIGNED is right, too: streams
 * have signatures. */
enum fault {
    SIGNED = -1,
    SOUND,
    NEGATIVE_TRIPS,
    ENDLESS_TRIPS,
    TOO_MANY_EVENTS,
    TOO_FEW_EVENTS,
    WRONG_CALLS,
    SHORT_COLUMN,
    LONG_COLUMN,
    IDLE_LOOP,
    UPWARD_LOOP,
    NO_SUCH_SYMBOL,
    NO_SUCH_TYPE,
    NO_SUCH_COMM,
    NO_SUCH_LIST,
    LIST_LENGTH_NEGATIVE,
    LISTS_TOO_LONG,
    LISTS_TOO_SHORT,
    LIST_WORDS_DAMAGED,
    LISTS_UNUSED_DAMAGED,
    NO_SUCH_PATH,
    RANK_PARAMS_TOO_LONG,
    CORES_MISSING,
    CALLER_NOWHERE,
    CALL_WITHOUT_NAME,
    CALLS_MISSING,
    LINES_TOO_LARGE,
    GROUP_WITHOUT_MEMBERS,
    ONE_SIGNATURE,
    TWO_SIGNATURES,
    TRAILING_BYTES,
    CLOCKS_WITHOUT_HOST,
    CLOCKS_BACKWARDS,
    CLOCKS_OUT_OF_ORDER,
    CLOCKS_EMPTY,
    CLOCKS_TOO_LATE,
    TOO_MANY_MARKS,
    PATHS_WITHOUT_FRAMES,
    NO_ONLINE_MERGES,
    VOLUME_WITHOUT_NAME,
    VOLUME_NOT_IN_STREAMS,
    VOLUME_MISSING,
    CHUNK_TWICE,
    CHUNK_OF_NOTHING,
    CHUNK_MISSING,
    N_FAULTS
};

struct writer {
    struct rfn_buf file;
    struct rfn_toc_entry chunks[64];
    size_t n;
    bool compress, times;
    bool volume;    /* all streams but the last of the model have volumes */
    unsigned minor; /* of the format */
    enum fault fault;
};

static bool has_volume(const struct writer *writer, uint32_t stream)
{
    return writer->volume && stream + 1 < N_STREAMS;
}

static void add_chunk(struct writer *writer, uint32_t type, uint64_t id, struct rfn_buf *payload)
{
    if (writer->fault == TRAILING_BYTES && type == RFN_CHUNK_VALUES)
        rfn_buf_u8(payload, 0);
    struct rfn_toc_entry *entry = &writer->chunks[writer->n++];
    *entry = (struct rfn_toc_entry){.type = type, .id = id, .offset = writer->file.size};
    entry->stored_size = rfn_chunk_append(&writer->file, type, id, payload->data, payload->size,
                                          writer->compress);
    rfn_buf_release(payload);
}

static void write_meta(struct writer *writer)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_string(&out, "refrain 0.1.0");
    rfn_buf_string(&out, "/bin/model");
    rfn_buf_string(&out, "./model 4 5");
    rfn_buf_string(&out, "MPI of the test");
    rfn_buf_string(&out, "mpich");
    rfn_buf_u64(&out, 1700000000000000000u);
    rfn_buf_varint(&out, N_RANKS);
    bool volume = writer->volume && writer->fault != VOLUME_WITHOUT_NAME;
    bool ends = writer->minor >= RFN_CLUSTERS_SINCE_MINOR;
    bool sent = writer->minor >= RFN_SENT_SINCE_MINOR;
    rfn_buf_varint(&out, writer->times + 4u * volume + (32u + 64u + 256u) * ends + 512u * sent);
    rfn_buf_varint(&out, 2500000);
    if (volume) {
        rfn_buf_string(&out, "papi:model");
        rfn_buf_string(&out, "ticks");
    }
    if (ends) {
        rfn_buf_varint(&out, 3);
        rfn_buf_varint(&out, writer->fault == PATHS_WITHOUT_FRAMES ? 0 : 2);
        for (uint64_t i = 0; i < 5 + RFN_MERGING_STEPS; i++)
            rfn_buf_varint(&out, 1000 + i); /* what merging moved */
        for (uint64_t i = 0; i < 4; i++)
            rfn_buf_varint(&out,
                           writer->fault == NO_ONLINE_MERGES ? 0 : 2000 + i); /* before the end */
    }
    for (uint64_t i = 0; i < 2 * RFN_MERGING_STEPS && sent; i++)
        rfn_buf_varint(&out, 7 * i); /* what was sent in steps of merging, which readers skip */
    add_chunk(writer, RFN_CHUNK_META, 0, &out);
}

/* Strings are numbered as they are asked for; the table is written first. */
struct strings {
    struct rfn_buf bytes;
    char known[128][40];
    uint32_t n;
};

static uint32_t string(struct strings *strings, const char *text)
{
    for (uint32_t i = 0; i < strings->n; i++) {
        if (strcmp(strings->known[i], text) == 0)
            return i;
    }
    strcpy(strings->known[strings->n], text);
    rfn_buf_string(&strings->bytes, text);
    return strings->n++;
}

static void write_functions(struct strings *strings, struct rfn_buf *out)
{
    rfn_buf_varint(out, N_SYMBOLS);
    for (int i = 0; i < N_SYMBOLS; i++) {
        const struct schema *schema = &schemas[i];
        rfn_buf_varint(out, string(strings, schema->name));
        rfn_buf_u8(out, model_classes[i]);
        rfn_buf_u8(out, i == TEST ? RFN_FUNCTION_POLL : 0);
        rfn_buf_u8(out, schema->n_in);
        rfn_buf_u8(out, schema->n_out);
        for (int k = 0; k < schema->n_in + schema->n_out; k++) {
            rfn_buf_varint(out, string(strings, schema->params[k].name));
            rfn_buf_u8(out, schema->params[k].kind);
            rfn_buf_u8(out, k >= schema->n_in);
        }
    }
}

static void write_type(struct strings *strings, struct rfn_buf *out, unsigned combiner,
                       const char *name, int64_t size, int64_t extent, const int64_t *integers,
                       size_t n, const uint64_t *children, size_t n_children)
{
    rfn_buf_varint(out, combiner);
    rfn_buf_varint(out, string(strings, name));
    rfn_buf_svarint(out, size);
    rfn_buf_svarint(out, 0);
    rfn_buf_svarint(out, extent);
    rfn_buf_svarint(out, 0);
    rfn_buf_svarint(out, extent);
    rfn_buf_varint(out, n);
    for (size_t i = 0; i < n; i++)
        rfn_buf_svarint(out, integers[i]);
    rfn_buf_varint(out, combiner == RFN_COMBINER_STRUCT ? 2 : 0);
    if (combiner == RFN_COMBINER_STRUCT) {
        rfn_buf_svarint(out, 0);
        rfn_buf_svarint(out, 16);
    }
    rfn_buf_varint(out, n_children);
    for (size_t i = 0; i < n_children; i++)
        rfn_buf_varint(out, children[i]);
}

static void write_types(struct strings *strings, struct rfn_buf *out)
{
    static const int64_t vector[] = {4, 1, 10}, structure[] = {2, 1, 3};
    static const uint64_t of_double[] = {1}, of_both[] = {2, 0};
    rfn_buf_varint(out, 4);
    write_type(strings, out, RFN_COMBINER_NAMED, "MPI_INT", 4, 4, NULL, 0, NULL, 0);
    write_type(strings, out, RFN_COMBINER_NAMED, "MPI_DOUBLE", 8, 8, NULL, 0, NULL, 0);
    write_type(strings, out, RFN_COMBINER_VECTOR, "", 32, 248, vector, 3, of_double, 1);
    write_type(strings, out, RFN_COMBINER_STRUCT | RFN_COMBINER_ABSOLUTE, "", 44, 264, structure, 3,
               of_both, 2);
}

static void write_ranks(struct rfn_buf *out, unsigned size, unsigned start, unsigned count,
                        int64_t stride)
{
    rfn_buf_varint(out, size);
    rfn_buf_varint(out, 1);
    rfn_buf_varint(out, start);
    rfn_buf_varint(out, count);
    rfn_buf_svarint(out, stride);
}

/* 0 world, 1 self, 2 even ranks, 3 odd ranks backwards, 4 even to odd. */
static void write_comms(struct rfn_buf *out)
{
    static const uint8_t kinds[] = {RFN_COMM_WORLD, RFN_COMM_SELF, RFN_COMM_INTRA, RFN_COMM_INTRA,
                                    RFN_COMM_INTER};
    rfn_buf_varint(out, 5);
    for (unsigned i = 0; i < 5; i++) {
        rfn_buf_u8(out, kinds[i]);
        rfn_buf_u64(out, 1000 + i);
        if (i == 2 || i == 4)
            write_ranks(out, 2, 0, 2, 2);
        if (i == 3)
            write_ranks(out, 2, 3, 2, -2);
        if (i == 4)
            write_ranks(out, 3, 1, 2, 2); /* and one process of another job */
    }
}

/* Main calls prepare() in line 9, something in line 10, before the location there, smooth() behind
 * it, and that of a library in line 12; there is a loop from line 8 to 12, and one from 10 to 12.
 */
static void write_callers(struct strings *strings, struct rfn_buf *out, enum fault fault)
{
    static const char *const names[] = {"prepare", "", "smooth", "smooth"};
    static const int64_t offsets[] = {-16, -8, 8, 32};
    static const unsigned lines[] = {9, 1, 0, 2}, libraries[] = {0, 0, 0, 1};
    rfn_buf_varint(out, 1);
    rfn_buf_varint(out, fault == CALLER_NOWHERE ? 3 : 0);
    rfn_buf_varint(out, fault == CALLS_MISSING ? 1000 : 4);
    for (unsigned i = 0; i < 4; i++) {
        rfn_buf_varint(out, fault == CALL_WITHOUT_NAME ? 1000 : string(strings, names[i]));
        rfn_buf_svarint(out, offsets[i]);
        rfn_buf_varint(out, 2 * lines[i] + libraries[i]);
    }
    rfn_buf_varint(out, 2);
    rfn_buf_varint(out, 8);
    rfn_buf_varint(out, fault == LINES_TOO_LARGE ? UINT32_MAX - 7 : 4);
    rfn_buf_varint(out, 10);
    rfn_buf_varint(out, 2);
}

static void write_definitions(struct writer *writer)
{
    static const char *const lines[] = {"main", "solve", ""};
    struct strings strings = {.bytes = RFN_BUF_INIT};
    struct rfn_buf rest = RFN_BUF_INIT, out = RFN_BUF_INIT;
    string(&strings, "");
    rfn_buf_varint(&rest, 1);
    rfn_buf_varint(&rest, string(&strings, "/bin/model"));
    rfn_buf_blob(&rest, "\1\2\3", 3);
    rfn_buf_varint(&rest, 3);
    for (unsigned i = 0; i < 3; i++) {
        rfn_buf_varint(&rest, 0);
        rfn_buf_varint(&rest, 0x1000 + i);
        rfn_buf_varint(&rest, string(&strings, lines[i]));
        rfn_buf_varint(&rest, string(&strings, i < 2 ? "model.c" : ""));
        rfn_buf_varint(&rest, i < 2 ? 10 + i : 0);
    }
    rfn_buf_varint(&rest, 2); /* paths: 1 <- 0, and 2 */
    rfn_buf_bytes(&rest, "\2\1\0\1\2", 5);
    write_functions(&strings, &rest);
    write_types(&strings, &rest);
    write_comms(&rest);
    rfn_buf_varint(&rest, 2);
    rfn_buf_varint(&rest, string(&strings, "node1"));
    rfn_buf_varint(&rest, string(&strings, "node2"));
    rfn_buf_varint(&rest, 2); /* regions */
    rfn_buf_u64(&rest, 77);
    rfn_buf_varint(&rest, string(&strings, "setup"));
    rfn_buf_u64(&rest, 99);
    rfn_buf_varint(&rest, string(&strings, "solve"));
    if (writer->minor >=
        RFN_CLUSTERS_SINCE_MINOR) /* cores of the hosts; the second's are not known */
        rfn_buf_bytes(&rest, "\10\0", writer->fault == CORES_MISSING ? 1 : 2);
    if (writer->minor >= RFN_CALLS_SINCE_MINOR && writer->fault != CORES_MISSING)
        write_callers(&strings, &rest, writer->fault);
    rfn_buf_varint(&out, strings.n);
    rfn_buf_bytes(&out, strings.bytes.data, strings.bytes.size);
    rfn_buf_bytes(&out, rest.data, rest.size);
    rfn_buf_release(&strings.bytes);
    rfn_buf_release(&rest);
    add_chunk(writer, RFN_CHUNK_DEFINITIONS, 0, &out);
}

/* The clock ticks three times per nanosecond: quanta 1000 + 3 k are 5000 + k ns on both hosts,
 * whose real times differ by 250 ns. */
static uint64_t monotonic_of(uint64_t quanta)
{
    return 5000 + (quanta - 1000) / 3;
}

static uint64_t offset_of(const struct model_stream *stream)
{
    return 1000000000 + (stream->host ? 250 : 0);
}

static uint64_t realtime_of(const struct model_stream *stream, uint64_t quanta)
{
    return monotonic_of(quanta) + offset_of(stream);
}

/* CLOCKS: what host 1's clock lacks to that of host 0, measured twice; between, it goes at twice
 * the speed. */
static const struct rfn_clock_offset model_offsets[] = {{5100, 1000, 60}, {9100, -1000, 40}};

static uint64_t corrected_of(uint64_t monotonic)
{
    if (monotonic < 5100)
        return monotonic + 1000;
    return monotonic < 9100 ? 6100 + (monotonic - 5100 + 1) / 2 : monotonic - 1000;
}

/* A time of all hosts; clocks: corrected, else by the time of day. */
__attribute__((unused)) static uint64_t aligned_of(const struct model_stream *stream,
                                                   uint64_t quanta, bool clocks)
{
    if (stream->host == 0 || !clocks)
        return realtime_of(stream, quanta);
    return corrected_of(monotonic_of(quanta)) + offset_of(&model[0]);
}

/* Streams make the same calls if they have the same values. */
static uint64_t signature_of(const struct writer *writer, uint32_t stream)
{
    switch (writer->fault) {
    case SIGNED:
        return 100 + (uint64_t)model[stream].set;
    case ONE_SIGNATURE:
        return 100;
    case TWO_SIGNATURES:
        return 100 + stream;
    default:
        return 0;
    }
}

static uint64_t end_of(const struct writer *writer, const struct model_stream *stream)
{
    return writer->times && model_late
               ? monotonic_of(stream->events[stream->n - 1].exit + (uint64_t)model_late)
               : 0;
}

static int words_of_version(unsigned minor)
{
    if (minor == 0)
        return RFN_WORD_VOLUME;
    if (minor < RFN_PROFILE_SINCE_MINOR)
        return RFN_WORD_TIMES;
    if (minor < RFN_SIGNATURES_SINCE_MINOR)
        return RFN_WORD_SIGNATURE;
    return minor < RFN_ENDS_SINCE_MINOR ? RFN_WORD_END : RFN_STREAM_WORDS;
}

/* One run per stream; the ranks as a relative run. */
static void write_streams(struct writer *writer)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, N_STREAMS);
    rfn_buf_varint(&out, N_RANKS * 4 + 1);
    rfn_buf_svarint(&out, 0);
    rfn_buf_varint(&out, 4 + 1);
    rfn_buf_svarint(&out, -1);
    for (int k = 1; k < words_of_version(writer->minor); k++) {
        for (int i = 0; i < N_STREAMS; i++) {
            const struct model_stream *stream = &model[i];
            uint64_t words[] = {0,
                                stream->thread,
                                stream->group,
                                stream->set,
                                stream->host,
                                stream->n,
                                stream->calls,
                                writer->times ? monotonic_of(stream->start) : 0,
                                writer->times ? offset_of(stream) : 0,
                                has_volume(writer, (uint32_t)i),
                                0,
                                (uint64_t)i,
                                signature_of(writer, (uint32_t)i),
                                end_of(writer, stream)};
            if (writer->fault == VOLUME_NOT_IN_STREAMS && k == RFN_WORD_VOLUME && i == 1)
                words[k] = 0;
            if (writer->fault == TOO_MANY_EVENTS && k == RFN_WORD_EVENTS)
                words[k]--;
            if (writer->fault == TOO_FEW_EVENTS && k >= RFN_WORD_EVENTS && k < RFN_WORD_TIMES)
                words[k]++;
            if (writer->fault == WRONG_CALLS && k == RFN_WORD_CALLS)
                words[k]++;
            if (writer->fault == GROUP_WITHOUT_MEMBERS && k == RFN_WORD_GROUP)
                words[k] *= 2;
            rfn_buf_varint(&out, 4);
            rfn_buf_svarint(&out, (int64_t)words[k]);
        }
    }
    add_chunk(writer, RFN_CHUNK_STREAMS, 0, &out);
}

static bool in_rank_params(int symbol, int input)
{
    return rfn_kind_depends_on_rank(schemas[symbol].params[input].kind) &&
           !(moved_of(symbol) >> input & 1);
}

static const struct model_event *first_event(const struct model_stream *stream, int symbol)
{
    for (size_t i = 0; i < stream->n; i++) {
        if (stream->events[i].symbol == symbol)
            return &stream->events[i];
    }
    return NULL;
}

static const struct model_stream *first_of_group(uint32_t group)
{
    return group ? &model[4] : &model[0];
}

static void write_symbols(const struct writer *writer, uint32_t group, struct rfn_buf *out)
{
    int n = group ? 1 : N_SYMBOLS;
    rfn_buf_varint(out, (uint64_t)n);
    for (int s = 0; s < n; s++) {
        const struct model_event *event = first_event(first_of_group(group), s);
        rfn_buf_varint(out, (uint64_t)s * 2 + (s == TEST));
        rfn_buf_varint(out, s == FINALIZE ? 5 : 0);
        rfn_buf_varint(out, moved_of(s));
        for (int i = 0; i < schemas[s].n_in; i++) {
            int64_t word = event->in[i];
            if (writer->fault == NO_SUCH_TYPE && schemas[s].params[i].kind == RFN_KIND_TYPE)
                word = 3;
            if (writer->fault == NO_SUCH_COMM && s == SEND && i == 4)
                word = 3;
            if (writer->fault == NO_SUCH_LIST && s == ALLTOALLW && i == 1)
                word = LISTS + 1;
            if (!(moved_of(s) >> i & 1) && !in_rank_params(s, i))
                rfn_buf_svarint(out, word);
        }
    }
}

static void write_loops(const struct writer *writer, uint32_t group, struct rfn_buf *out)
{
    static const uint8_t around[] = {
        2,           2,        SEND * 2,  RECV * 2, /* L0 */
        7,           1,        SEND * 2,  RECV * 2, ALLTOALLW * 2, FINALIZE * 2,
        1,           TEST * 2, /* L1 */
        6,           INIT * 2, SPLIT * 2, 3,        ALLTOALLW * 2, 1,
        FINALIZE * 2};
    static const uint8_t bodies[] = {2,        2,           SEND * 2, RECV * 2,  2, 1,
                                     TEST * 2, 6,           INIT * 2, SPLIT * 2, 3, ALLTOALLW * 2,
                                     1,        FINALIZE * 2};
    static const uint8_t idle[] = {3,     2,           SEND * 2,  RECV * 2, 2,
                                   1,     TEST * 2,    1,         1, /* a loop around L0 only */
                                   6,     INIT * 2,    SPLIT * 2, 3,        ALLTOALLW * 2,
                                   1 + 4, FINALIZE * 2};
    uint8_t bytes[sizeof idle];
    if (group) {
        rfn_buf_bytes(out, (const uint8_t[]){0, 1, INIT * 2}, 3);
        return;
    }
    if (model_around) {
        rfn_buf_bytes(out, around, sizeof around);
        return;
    }
    size_t n = writer->fault == IDLE_LOOP ? sizeof idle : sizeof bodies;
    memcpy(bytes, writer->fault == IDLE_LOOP ? idle : bodies, n);
    if (writer->fault == UPWARD_LOOP)
        bytes[2] = 3;
    if (writer->fault == NO_SUCH_SYMBOL)
        bytes[2] = N_SYMBOLS * 2;
    rfn_buf_bytes(out, bytes, n);
}

static void write_structure(struct writer *writer, uint32_t group)
{
    struct rfn_buf out = RFN_BUF_INIT;
    unsigned n = group ? 1 : N_SYMBOLS;
    rfn_buf_varint(&out, n); /* sites */
    for (unsigned i = 0; i < n; i++) {
        rfn_buf_varint(&out, i);
        rfn_buf_varint(&out, writer->fault == NO_SUCH_PATH ? 2 : i % 2);
    }
    rfn_buf_bytes(&out, "\3\2\1\0", 4); /* local datatypes 0, 1, 2 are 2, 1, 0 */
    rfn_buf_varint(&out, 3);            /* communicators */
    write_symbols(writer, group, &out);
    write_loops(writer, group, &out);
    add_chunk(writer, RFN_CHUNK_STRUCTURE, group, &out);
}

struct column_writer {
    struct rfn_column column;
    struct rfn_buf *out;
};

static void begin_column(struct column_writer *writer, struct rfn_buf *out)
{
    rfn_column_init(&writer->column);
    writer->out = out;
}

static void add_value(struct column_writer *writer, int64_t value)
{
    assert_int_equal(rfn_column_append(&writer->column, value), 0);
}

static void end_column(struct column_writer *writer)
{
    rfn_column_write(&writer->column, writer->out);
    rfn_column_release(&writer->column);
}

/* One column of a symbol: input i, or outcome i - n_in. */
static void write_column(const struct writer *writer, const struct model_stream *stream, int symbol,
                         int i, struct rfn_buf *out)
{
    struct column_writer column;
    bool skip = writer->fault == SHORT_COLUMN && symbol == SEND;
    begin_column(&column, out);
    for (size_t e = 0; e < stream->n; e++) {
        const struct model_event *event = &stream->events[e];
        int n_in = schemas[symbol].n_in;
        if (event->symbol == symbol && !skip)
            add_value(&column, i < n_in ? event->in[i] : event->out[i - n_in]);
        skip &= event->symbol != symbol;
    }
    if (writer->fault == LONG_COLUMN && symbol == SEND)
        add_value(&column, 1);
    end_column(&column);
}

static int64_t list_length(enum fault fault, int list)
{
    if (fault == LIST_LENGTH_NEGATIVE && list == 0)
        return -(int64_t)list_lengths[0];
    if (fault == LISTS_TOO_LONG && list == 3)
        return INT64_MAX;
    return (int64_t)list_lengths[list] - (fault == LISTS_TOO_SHORT && list == 2);
}

/* A column of two blocks, one of which has too few bytes: it shows when it is decoded. */
static void write_damaged(struct rfn_buf *out, uint64_t n, uint64_t sound)
{
    struct rfn_buf blocks = RFN_BUF_INIT;
    for (uint64_t at = 0; at < n; at = at ? n : sound) {
        uint64_t count = at ? n - at : sound;
        rfn_buf_u8(&blocks, 1); /* varints */
        rfn_buf_varint(&blocks, count);
        rfn_buf_varint(&blocks, at ? count - 1 : count);
        for (uint64_t i = 0; i < (at ? count - 1 : count); i++)
            rfn_buf_u8(&blocks, 0);
    }
    rfn_buf_varint(out, n);
    rfn_buf_blob(out, blocks.data, blocks.size);
    rfn_buf_release(&blocks);
}

static void write_list_words(enum fault fault, struct rfn_buf *out)
{
    struct column_writer column;
    begin_column(&column, out);
    for (int i = 0; i < LISTS; i++) {
        for (size_t k = 0; k < list_lengths[i]; k++)
            add_value(&column, list_words[i][k]);
    }
    if (fault == LIST_WORDS_DAMAGED || fault == LISTS_UNUSED_DAMAGED) {
        uint64_t n = column.column.n;
        rfn_column_release(&column.column);
        write_damaged(out, n, fault == LIST_WORDS_DAMAGED ? list_lengths[0] : n - 1);
    } else {
        end_column(&column);
    }
}

static void write_lists(enum fault fault, struct rfn_buf *out)
{
    struct column_writer column;
    rfn_buf_varint(out, LISTS);
    begin_column(&column, out);
    for (int i = 0; i < LISTS; i++)
        add_value(&column, list_length(fault, i));
    end_column(&column);
    write_list_words(fault, out);
}

static void write_trips(const struct writer *writer, const struct model_stream *stream, int loop,
                        struct rfn_buf *out)
{
    struct column_writer column;
    begin_column(&column, out);
    for (size_t i = 0; i < stream->n_trips[loop]; i++) {
        int64_t trips = stream->trips[loop][i];
        if (loop == 1 && writer->fault == NEGATIVE_TRIPS)
            trips = -1;
        if (loop == 1 && writer->fault == ENDLESS_TRIPS)
            trips = INT64_C(1) << 62;
        add_value(&column, trips);
    }
    if (loop == 0 && writer->fault == ENDLESS_TRIPS) {
        for (int i = 0; i < 1000000; i++)
            add_value(&column, 0);
    }
    end_column(&column);
}

static void write_values(struct writer *writer, const struct model_stream *stream)
{
    struct rfn_buf out = RFN_BUF_INIT;
    write_lists(writer->fault, &out);
    for (int loop = 0; loop < 2 && stream->group == 0; loop++)
        write_trips(writer, stream, loop, &out);
    if (writer->fault == IDLE_LOOP && stream->group == 0) {
        struct column_writer column; /* very often nothing */
        begin_column(&column, &out);
        add_value(&column, INT64_C(1) << 60);
        end_column(&column);
    }
    for (int s = 0; s < (stream->group ? 1 : N_SYMBOLS); s++) {
        for (int i = 0; i < schemas[s].n_in + schemas[s].n_out; i++) {
            if (i >= schemas[s].n_in || (moved_of(s) >> i & 1))
                write_column(writer, stream, s, i, &out);
        }
    }
    add_chunk(writer, RFN_CHUNK_VALUES, stream->set, &out);
}

/* Communicators of a rank by local number. */
static int64_t archive_comm(const struct model_stream *stream, int64_t local)
{
    return local == 2 ? 2 + stream->rank % 2 : local;
}

/* The rank of a stream in the communicator of Send: even ranks in order, odd ones backwards. */
static int64_t rank_in_half(const struct model_stream *stream)
{
    return stream->rank % 2 ? 1 - stream->rank / 2 : stream->rank / 2;
}

/* A word that is so much more than the reference, as a formula in it. */
static void write_formula(int64_t difference, struct rfn_buf *out)
{
    char text[64];
    int size = snprintf(text, sizeof text, "r < n ? r + (%lld) : 1/0", (long long)difference);
    rfn_buf_varint(out, 4 + 2);
    rfn_buf_varint(out, 7);
    rfn_buf_varint(out, 0);
    rfn_buf_varint(out, 4);
    rfn_buf_blob(out, text, (size_t)size);
}

static void write_place(const struct writer *writer, const struct model_stream *stream, int symbol,
                        int input, struct rfn_buf *out)
{
    const struct model_event *event = first_event(stream, symbol);
    int64_t word = event->in[input];
    int64_t reference = symbol == SEND ? rank_in_half(stream) : stream->rank;
    bool relative = word >= 0 && input == 2; /* key, dest, source; colours stay absolute */
    if (relative && symbol == SEND && writer->minor >= RFN_CLUSTERS_SINCE_MINOR) {
        write_formula(word - reference, out);
        return;
    }
    rfn_buf_varint(out, 4 + relative);
    rfn_buf_svarint(out, relative ? word - reference : word);
}

static void write_rank_params(struct writer *writer, uint32_t group)
{
    struct rfn_buf out = RFN_BUF_INIT, slots = RFN_BUF_INIT;
    uint64_t n = 0;
    uint32_t first = group ? 4 : 0, end = group ? 5 : 4;
    for (int s = 0; s < (group ? 1 : N_SYMBOLS); s++) {
        for (int i = 0; i < schemas[s].n_in; i++) {
            if (!in_rank_params(s, i))
                continue;
            n++;
            for (uint32_t m = first; m < end; m++)
                write_place(writer, &model[m], s, i, &slots);
        }
    }
    for (int64_t c = 0; c < 3; c++, n++) {
        for (uint32_t m = first; m < end; m++) {
            uint64_t count = writer->fault == RANK_PARAMS_TOO_LONG && m + 1 == end ? 2 : 1;
            rfn_buf_varint(&slots, 4 * count);
            rfn_buf_svarint(&slots, archive_comm(&model[m], c));
        }
    }
    rfn_buf_varint(&out, n);
    rfn_buf_bytes(&out, slots.data, slots.size);
    rfn_buf_release(&slots);
    add_chunk(writer, RFN_CHUNK_RANK_PARAMS, group, &out);
}

static void write_clock(const struct writer *writer, const struct model_stream *stream,
                        struct rfn_buf *out)
{
    static const uint64_t pairs[] = {1000, 4000, 4000000};
    rfn_buf_u8(out, 0);
    rfn_buf_varint(out, 3);
    for (int i = 0; i < 3; i++) {
        rfn_buf_u64(out, pairs[i]);
        rfn_buf_u64(out, monotonic_of(pairs[i]));
        rfn_buf_u64(out, realtime_of(stream, pairs[i]));
    }
    rfn_buf_u64(out, stream->start);
    rfn_buf_varint(out, writer->fault == TOO_MANY_MARKS);
    if (writer->fault == TOO_MANY_MARKS)
        rfn_buf_varint(out, 12);
}

/* Replaces the number of marks, 0, that the clock ends with. enter_of: of an event. */
static void write_marks(uint64_t start, size_t n, uint64_t (*enter_of)(const void *, size_t),
                        const void *context, struct rfn_buf *out)
{
    uint64_t before = start;
    if (!model_marks || n == 0)
        return;
    out->size--;
    rfn_buf_varint(out, (n - 1) / model_marks);
    for (uint64_t i = 1; i <= (n - 1) / model_marks; i++) {
        uint64_t enter = enter_of(context, (size_t)(i * model_marks));
        if (model_wrong_mark && (i == model_wrong_mark || (model_all_off && i > model_wrong_mark)))
            enter += (uint64_t)model_mark_off;
        rfn_buf_varint(out, enter - before);
        before = enter;
    }
}

static uint64_t model_enter(const void *stream, size_t event)
{
    return ((const struct model_stream *)stream)->events[event].enter;
}

static int64_t timing_value(const struct model_stream *stream, size_t e, int which)
{
    const struct model_event *event = &stream->events[e];
    switch (which) {
    case 0:
        return (int64_t)(event->enter - (e ? event[-1].exit : stream->start));
    case 1:
        return (int64_t)(event->exit - event->enter);
    case 2:
        return event->polls;
    case 3:
        return (int64_t)event->inside;
    case 4:
        return event->volume_gap;
    default:
        return event->volume_inside;
    }
}

static void write_timing_column(const struct model_stream *stream, int symbol, int which,
                                struct rfn_buf *out)
{
    struct column_writer column;
    begin_column(&column, out);
    for (size_t e = 0; e < stream->n; e++) {
        if (stream->events[e].symbol == symbol)
            add_value(&column, timing_value(stream, e, which));
    }
    end_column(&column);
}

static void write_timing(struct writer *writer, uint32_t number)
{
    const struct model_stream *stream = &model[number];
    struct rfn_buf out = RFN_BUF_INIT;
    int n_symbols = stream->group ? 1 : N_SYMBOLS;
    bool volume = has_volume(writer, number);
    rfn_buf_varint(&out, writer->times + 2u * volume);
    if (writer->times) {
        write_clock(writer, stream, &out);
        write_marks(stream->start, stream->n, model_enter, stream, &out);
    }
    for (int s = 0; s < n_symbols; s++) {
        for (int which = writer->times ? 0 : 2; which < (s == TEST ? 4 : 2); which++) {
            if (which < 3 || writer->times)
                write_timing_column(stream, s, which, &out);
        }
    }
    int missing = writer->fault == VOLUME_MISSING && number == 1;
    for (int s = 0; volume && s < n_symbols - missing; s++) {
        write_timing_column(stream, s, 4, &out);
        write_timing_column(stream, s, 5, &out);
    }
    add_chunk(writer, RFN_CHUNK_TIMING, number, &out);
}

static void write_tail(struct writer *writer)
{
    struct rfn_buf toc = RFN_BUF_INIT;
    uint64_t offset = writer->file.size;
    if (writer->fault == CHUNK_MISSING)
        writer->n--;
    rfn_toc_append(&toc, writer->chunks, writer->n);
    rfn_chunk_append(&writer->file, RFN_CHUNK_TOC, 0, toc.data, toc.size, writer->compress);
    rfn_buf_release(&toc);
    rfn_header_write(writer->file.data, RFN_STATE_WHOLE, offset, writer->file.size);
    if (writer->minor != RFN_FORMAT_MINOR) {
        writer->file.data[12] = (uint8_t)writer->minor;
        uint64_t sum = rfn_hash_bytes(writer->file.data, 56);
        for (unsigned i = 0; i < 8; i++)
            writer->file.data[56 + i] = (uint8_t)(sum >> (8 * i));
    }
}

/* Files of before CLOCKS have a chunk of this type that means nothing. */
static void write_clocks(struct writer *writer)
{
    struct rfn_buf out = RFN_BUF_INIT;
    unsigned n = writer->fault == CLOCKS_OUT_OF_ORDER ? 2 : 1;
    rfn_buf_varint(&out, writer->minor < RFN_CLOCKS_SINCE_MINOR ? 7 : 0);
    rfn_buf_varint(&out, n);
    for (unsigned i = 0; i < n; i++) {
        rfn_buf_varint(&out, writer->fault == CLOCKS_WITHOUT_HOST ? 2 : 1);
        rfn_buf_varint(&out, writer->fault == CLOCKS_EMPTY ? 0 : 2);
        for (unsigned k = 0; k < 2 && writer->fault != CLOCKS_EMPTY; k++) {
            const struct rfn_clock_offset *at =
                &model_offsets[writer->fault == CLOCKS_BACKWARDS ? 1 - k : k];
            rfn_buf_u64(&out, at->monotonic_ns);
            rfn_buf_svarint(&out, at->offset_ns);
            rfn_buf_varint(&out, at->round_trip_ns);
        }
    }
    add_chunk(writer, RFN_CHUNK_CLOCKS, 0, &out);
}

/* A gap between chunks, and a chunk of a type to come, are part of every archive. */
static void write_unknown(struct writer *writer)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_u64(&writer->file, 0);
    rfn_buf_string(&out, "of a later version");
    add_chunk(writer, 40, 3, &out);
}

/* Set by a test before it writes: adds chunks behind all others. */
static void (*model_more)(struct writer *writer);

static struct rfn_buf write_version(unsigned minor, enum fault fault, bool compress, bool times)
{
    struct writer writer = {.compress = compress,
                            .times = times,
                            .volume = minor > 0 && compress,
                            .minor = minor,
                            .fault = fault};
    uint8_t header[RFN_HEADER_BYTES];
    make_model();
    rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
    rfn_buf_bytes(&writer.file, header, sizeof header);
    write_meta(&writer);
    write_definitions(&writer);
    write_streams(&writer);
    if (times && fault != CLOCKS_TOO_LATE)
        write_clocks(&writer);
    for (uint32_t group = 0; group < N_GROUPS; group++)
        write_rank_params(&writer, group);
    if (times && fault == CLOCKS_TOO_LATE)
        write_clocks(&writer);
    write_unknown(&writer);
    for (uint32_t group = 0; group < N_GROUPS; group++)
        write_structure(&writer, group);
    write_values(&writer, &model[0]);
    write_values(&writer, &model[3]);
    write_values(&writer, &model[4]);
    if (fault == CHUNK_TWICE)
        write_values(&writer, &model[4]);
    for (uint32_t i = 0; i < (times ? N_STREAMS : N_RANKS); i++)
        write_timing(&writer, i);
    if (fault == CHUNK_OF_NOTHING)
        add_chunk(&writer, RFN_CHUNK_VALUES, 3, &(struct rfn_buf)RFN_BUF_INIT);
    if (model_more)
        model_more(&writer);
    write_tail(&writer);
    assert_false(writer.file.failed);
    return writer.file;
}

/* Those that are compressed have volumes, too. */
__attribute__((unused)) static struct rfn_buf write_archive(enum fault fault, bool compress,
                                                            bool times)
{
    return write_version(RFN_FORMAT_MINOR, fault, compress, times);
}

/* Writes the file, whose bytes it releases. Returns success. */
static inline bool write_file(const char *path, struct rfn_buf *file)
{
    FILE *to = fopen(path, "wb");
    bool written = to && fwrite(file->data, 1, file->size, to) == file->size;
    rfn_buf_release(file);
    return to && fclose(to) == 0 && written;
}

#endif
