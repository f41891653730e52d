#include "convert/text/ti_parser.h"

#include "base/c_numbers.h"
#include "base/grow.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME = 16,   /* longer than all names of actions */
    NUMBER = 64, /* longer than all numbers */
    FIRST = 2,   /* field behind the name */
    THESIS_TYPES = 7,
    RANKS_MAX = 1 << 24
};

static const double COUNT_MAX = 1e15;

/* Bytes of SimGrid's types by their numbers, from MPI_DOUBLE to MPI_PTR. */
static const uint8_t type_bytes[] = {
    8, 4, 1, 2,  8,  4, 1, 8, 1,  1,  2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1,  2,  4, 8, 8, 16, 32,
    8, 8, 8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 4, 8, 0,  0, 0, 4, 2, 4, 8, 16, 32, 0, 0, 1, 8};

void rfn_ti_parser_release(struct rfn_ti_parser *parser)
{
    rfn_ti_requests_release(&parser->requests);
    free(parser->fields);
    free(parser->sizes);
    parser->fields = NULL;
    parser->sizes = NULL;
    parser->fields_capacity = parser->sizes_capacity = 0;
}

static int fault(struct rfn_ti_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int fault(struct rfn_ti_parser *parser, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rfn_c_vprint(parser->fault, sizeof parser->fault, format, args);
    va_end(args);
    return RFN_E_CORRUPT;
}

/* ---- fields ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next field from *at on; false: there is none. */
static inline bool next_field(const char **at, const char *end, struct rfn_ti_field *field)
{
    const char *from = *at;
    while (from < end && is_blank(*from))
        from++;
    const char *to = from;
    while (to < end && !is_blank(*to))
        to++;
    *at = to;
    *field = (struct rfn_ti_field){from, (size_t)(to - from)};
    return to > from;
}

static int split(struct rfn_ti_parser *parser, const char *text, size_t length)
{
    const char *end = text + length;
    struct rfn_ti_field field;
    parser->n_fields = 0;
    while (next_field(&text, end, &field)) {
        RFN_TRY(RFN_GROW(parser->fields, parser->fields_capacity, parser->n_fields + 1));
        parser->fields[parser->n_fields++] = field;
    }
    return 0;
}

/* Up to 18 digits; false: it is something else. */
static inline bool digits(const struct rfn_ti_field *field, int64_t *number)
{
    if (field->length == 0 || field->length > 18)
        return false;
    *number = 0;
    for (size_t i = 0; i < field->length; i++) {
        const unsigned digit = (unsigned)(unsigned char)field->text[i] - '0';
        if (digit > 9)
            return false;
        *number = *number * 10 + digit;
    }
    return true;
}

static bool real(const struct rfn_ti_field *field, double *number)
{
    char text[NUMBER], *end;
    if (field->length == 0 || field->length >= sizeof text)
        return false;
    memcpy(text, field->text, field->length);
    text[field->length] = '\0';
    *number = rfn_c_double(text, &end);
    return !*end && isfinite(*number);
}

static const struct rfn_ti_field *field_at(const struct rfn_ti_parser *parser, size_t place)
{
    return place < parser->n_fields ? &parser->fields[place] : NULL;
}

static int not_a(struct rfn_ti_parser *parser, size_t place, const char *what)
{
    const struct rfn_ti_field *name = &parser->fields[1], *field = field_at(parser, place);
    if (!field)
        return fault(parser, "%.*s: field %zu is missing: %s", (int)name->length, name->text,
                     place + 1, what);
    return fault(parser, "%.*s: field %zu, \"%.*s\", is not %s", (int)name->length, name->text,
                 place + 1, field->length > 24 ? 24 : (int)field->length, field->text, what);
}

/* A whole number from least to most, perhaps written as 1e6; fractions are cut off, as SimGrid does
 * it. */
static int whole(struct rfn_ti_parser *parser, size_t place, double least, double most,
                 const char *what, int64_t *number)
{
    const struct rfn_ti_field *field = field_at(parser, place);
    double value;
    if (field && digits(field, number) && (double)*number <= most)
        return 0;
    if (!field || !real(field, &value) || value < least || value > most)
        return not_a(parser, place, what);
    *number = (int64_t)value;
    return 0;
}

static int peer(struct rfn_ti_parser *parser, size_t place, bool any, int64_t *number)
{
    RFN_TRY(
        whole(parser, place, any ? RFN_ACTION_ANY : 0, parser->n_ranks - 1.0, "a rank", number));
    return *number < 0 && *number != RFN_ACTION_ANY ? not_a(parser, place, "a rank") : 0;
}

/* Digits, maybe behind a minus: SimGrid reads 1e6 as 1. */
static bool is_tag(const struct rfn_ti_field *field, int64_t *number)
{
    const bool minus = field->length && field->text[0] == '-';
    const struct rfn_ti_field rest = {field->text + minus, field->length - minus};
    if (!digits(&rest, number) || *number > INT32_MAX)
        return false;
    *number = minus ? -*number : *number;
    return true;
}

static int tag(struct rfn_ti_parser *parser, size_t place, int64_t *number)
{
    const struct rfn_ti_field *field = field_at(parser, place);
    return field && is_tag(field, number) ? 0 : not_a(parser, place, "a tag");
}

/* As many elements, of so many bytes, as bytes. */
static int bytes(struct rfn_ti_parser *parser, size_t place, int64_t each, int64_t *number)
{
    RFN_TRY(whole(parser, place, 0, COUNT_MAX, "a count", number));
    *number *= each;
    return 0;
}

/* What is computed. */
static int volume(struct rfn_ti_parser *parser, size_t place, double *number)
{
    const struct rfn_ti_field *field = field_at(parser, place);
    int64_t value;
    if (field && digits(field, &value)) {
        *number = (double)value;
        return 0;
    }
    return field && real(field, number) && *number >= 0 ? 0 : not_a(parser, place, "a volume");
}

static bool is_thesis(const struct rfn_ti_parser *parser)
{
    return parser->dialect == RFN_TEXT_THESIS;
}

/* The bytes of an element of the type that a field names, if it is there. */
static int type(struct rfn_ti_parser *parser, size_t place, int64_t *each)
{
    int64_t number;
    *each = parser->default_bytes ? parser->default_bytes : 1;
    if (place >= parser->n_fields)
        return 0;
    const double most = is_thesis(parser) ? THESIS_TYPES - 1 : (double)sizeof type_bytes - 1;
    RFN_TRY(whole(parser, place, 0, most, "a type", &number));
    *each = type_bytes[number];
    return *each ? 0 : not_a(parser, place, "a type with a size");
}

/* The root, if it is there. */
static int root(struct rfn_ti_parser *parser, size_t place, int64_t *number)
{
    *number = 0;
    return place < parser->n_fields ? peer(parser, place, false, number) : 0;
}

static int at_most(struct rfn_ti_parser *parser, size_t fields)
{
    const struct rfn_ti_field *name = &parser->fields[1];
    if (parser->n_fields <= FIRST + fields)
        return 0;
    return fault(parser, "%.*s: field %zu is one too many", (int)name->length, name->text,
                 FIRST + fields + 1);
}

/* Sizes of as many elements as there are ranks, into half 0 or 1 of the parser's. */
static int sizes(struct rfn_ti_parser *parser, size_t place, int64_t each, unsigned half,
                 const int64_t **list)
{
    const uint32_t n = parser->n_ranks;
    if (parser->n_fields < place + n)
        return not_a(parser, parser->n_fields, "a count per rank");
    RFN_TRY(RFN_GROW(parser->sizes, parser->sizes_capacity, 2 * (size_t)n));
    *list = parser->sizes + (size_t)half * n;
    for (uint32_t i = 0; i < n; i++)
        RFN_TRY(bytes(parser, place + i, each, &parser->sizes[(size_t)half * n + i]));
    return 0;
}

/* ---- actions ---- */

/* What tells of which dialect a line is. */
enum told_by {
    COMMON,  /* nothing: it is the same in both */
    CASED,   /* capitals: the thesis has allReduce, SimGrid allreduce */
    SIMGRID, /* the name: the thesis lacks it */
    WAITING, /* whether there are fields */
    MESSAGE  /* how many fields there are, and of what form */
};

struct action_name {
    const char *name; /* in lower case */
    enum rfn_action_kind kind;
    int (*parse)(struct rfn_ti_parser *parser, struct rfn_action *action);
    enum told_by told_by;
};

static int parse_init(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    (void)action;
    parser->default_bytes = parser->n_fields > FIRST ? 8 : 1;
    return 0;
}

static int parse_alone(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    (void)parser;
    (void)action;
    return 0;
}

static int parse_compute(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    RFN_TRY(volume(parser, FIRST, &action->volume));
    return at_most(parser, 1);
}

static int parse_sleep(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    RFN_TRY(volume(parser, FIRST, &action->seconds));
    return at_most(parser, 1);
}

/* PEER TAG COUNT [TYPE], or of the thesis PEER [COUNT [TYPE]], where only receives lack a count. */
static int parse_message(struct rfn_ti_parser *parser, struct rfn_action *action, bool sends)
{
    const bool tagged = !is_thesis(parser);
    const size_t count = FIRST + 1 + tagged;
    int64_t each;
    RFN_TRY(peer(parser, FIRST, !sends, &action->peer));
    if (tagged)
        RFN_TRY(tag(parser, FIRST + 1, &action->tag));
    RFN_TRY(type(parser, count + 1, &each));
    action->type_bytes = (uint32_t)each;
    action->request = -1;
    if (!sends && !tagged && parser->n_fields <= count) {
        action->bytes = -1;
        return 0;
    }
    RFN_TRY(whole(parser, count, sends ? 0 : -COUNT_MAX, COUNT_MAX, "a count", &action->bytes));
    action->bytes = action->bytes < 0 ? -1 : action->bytes * each;
    return at_most(parser, 3 + (size_t)tagged);
}

static int parse_blocking(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    action->blocks = true;
    return parse_message(parser, action, action->kind == RFN_ACTION_SEND);
}

static int parse_posting(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    const bool sends = action->kind == RFN_ACTION_SEND;
    RFN_TRY(parse_message(parser, action, sends));
    action->request = rfn_ti_requests_post(
        &parser->requests, rfn_ti_request_key(parser->rank, action->peer, action->tag, sends));
    return action->request < 0 ? RFN_E_NOMEM : 0;
}

/* SOURCE DEST TAG, one of which is the rank. */
static int parse_key(struct rfn_ti_parser *parser, uint64_t *key)
{
    int64_t source, dest, number;
    RFN_TRY(peer(parser, FIRST, true, &source));
    RFN_TRY(peer(parser, FIRST + 1, false, &dest));
    RFN_TRY(tag(parser, FIRST + 2, &number));
    RFN_TRY(at_most(parser, 3));
    if (source != parser->rank && dest != parser->rank)
        return fault(parser, "%.*s: neither source %lld nor destination %lld is the line's rank",
                     (int)parser->fields[1].length, parser->fields[1].text, (long long)source,
                     (long long)dest);
    *key = source == parser->rank ? rfn_ti_request_key(parser->rank, dest, number, true)
                                  : rfn_ti_request_key(parser->rank, source, number, false);
    return 0;
}

static int take_one(struct rfn_ti_parser *parser, struct rfn_action *action, int64_t number)
{
    struct rfn_ti_requests *requests = &parser->requests;
    if (number == RFN_E_NOMEM)
        return RFN_E_NOMEM;
    RFN_TRY(RFN_GROW(requests->numbers, requests->numbers_capacity, 1));
    requests->numbers[0] = number;
    action->requests = requests->numbers;
    action->n_requests = number >= 0;
    return 0;
}

static int parse_wait(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    uint64_t key;
    if (is_thesis(parser)) {
        RFN_TRY(at_most(parser, 0));
        const int64_t last = rfn_ti_requests_take_last(&parser->requests);
        return last < 0 ? fault(parser, "wait: no request is pending")
                        : take_one(parser, action, last);
    }
    RFN_TRY(parse_key(parser, &key));
    return take_one(parser, action, rfn_ti_requests_take(&parser->requests, key));
}

static int parse_test(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    uint64_t key;
    RFN_TRY(parse_key(parser, &key));
    return take_one(parser, action, rfn_ti_requests_test(&parser->requests, key));
}

static int parse_waitall(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    const int64_t n = rfn_ti_requests_take_all(&parser->requests);
    RFN_TRY((int)(n < 0 ? n : 0));
    action->requests = parser->requests.numbers;
    action->n_requests = (size_t)n;
    return 0;
}

static int parse_sendrecv(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    int64_t each, receive_each;
    RFN_TRY(type(parser, FIRST + 4, &each));
    RFN_TRY(type(parser, FIRST + 5, &receive_each));
    RFN_TRY(bytes(parser, FIRST, each, &action->bytes));
    RFN_TRY(peer(parser, FIRST + 1, false, &action->peer));
    RFN_TRY(bytes(parser, FIRST + 2, receive_each, &action->receive_bytes));
    RFN_TRY(peer(parser, FIRST + 3, true, &action->receive_peer));
    action->type_bytes = (uint32_t)each;
    return at_most(parser, 6);
}

/* COUNT [ROOT [TYPE]] */
static int parse_bcast(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    int64_t each;
    RFN_TRY(type(parser, FIRST + 2, &each));
    RFN_TRY(bytes(parser, FIRST, each, &action->bytes));
    action->type_bytes = (uint32_t)each;
    RFN_TRY(root(parser, FIRST + 1, &action->root));
    return at_most(parser, 3);
}

/* COUNT VOLUME, then, of MPI_Reduce [ROOT [TYPE]], of others [TYPE] */
static int parse_reduce(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    const bool rooted = action->kind == RFN_ACTION_REDUCE;
    int64_t each;
    RFN_TRY(type(parser, FIRST + 2 + (size_t)rooted, &each));
    RFN_TRY(bytes(parser, FIRST, each, &action->bytes));
    RFN_TRY(volume(parser, FIRST + 1, &action->volume));
    action->type_bytes = (uint32_t)each;
    if (rooted)
        RFN_TRY(root(parser, FIRST + 2, &action->root));
    return at_most(parser, 3 + (size_t)rooted);
}

/* SENT RECEIVED, then, of gather and scatter [ROOT [TYPE TYPE]], of others [TYPE TYPE] */
static int parse_parts(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    const bool rooted = action->kind == RFN_ACTION_GATHER || action->kind == RFN_ACTION_SCATTER;
    const size_t types = FIRST + 2 + (size_t)rooted;
    int64_t each, receive_each;
    RFN_TRY(type(parser, types, &each));
    RFN_TRY(type(parser, types + 1, &receive_each));
    RFN_TRY(bytes(parser, FIRST, each, &action->bytes));
    RFN_TRY(bytes(parser, FIRST + 1, receive_each, &action->receive_bytes));
    action->type_bytes = (uint32_t)each;
    if (rooted)
        RFN_TRY(root(parser, FIRST + 2, &action->root));
    return at_most(parser, 4 + (size_t)rooted);
}

/* SENT RECEIVED*P [ROOT [TYPE TYPE]] */
static int parse_gatherv(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    const size_t after = FIRST + 1 + parser->n_ranks;
    int64_t each, receive_each;
    RFN_TRY(type(parser, after + 1, &each));
    RFN_TRY(type(parser, after + 2, &receive_each));
    RFN_TRY(bytes(parser, FIRST, each, &action->bytes));
    RFN_TRY(sizes(parser, FIRST + 1, receive_each, 1, &action->receives));
    RFN_TRY(root(parser, after, &action->root));
    action->type_bytes = (uint32_t)each;
    return at_most(parser, after + 3 - FIRST);
}

/* SENT RECEIVED*P [TYPE TYPE] [DISPLACEMENT*P], where SimGrid reads one type before displacements
 * and two at the end; the thesis has displacements alone. */
static int parse_allgatherv(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    const size_t after = FIRST + 1 + parser->n_ranks;
    const size_t more = parser->n_fields > after ? parser->n_fields - after : 0;
    const bool typed = is_thesis(parser) ? more == 2 && parser->n_ranks != 2
                                         : more == 2 || (more && more != parser->n_ranks);
    const size_t none = parser->n_fields;
    int64_t each, receive_each;
    RFN_TRY(type(parser, typed ? after : none, &each));
    RFN_TRY(type(parser,
                 typed && (more == 2 || more == parser->n_ranks + 2) ? after + 1
                 : typed                                             ? after
                                                                     : none,
                 &receive_each));
    RFN_TRY(bytes(parser, FIRST, each, &action->bytes));
    RFN_TRY(sizes(parser, FIRST + 1, receive_each, 1, &action->receives));
    action->type_bytes = (uint32_t)each;
    return at_most(parser, after + 2 + parser->n_ranks - FIRST);
}

/* SENT*P RECEIVED [ROOT [TYPE TYPE]] */
static int parse_scatterv(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    const size_t after = FIRST + parser->n_ranks;
    int64_t each, receive_each;
    RFN_TRY(type(parser, after + 2, &each));
    RFN_TRY(type(parser, after + 3, &receive_each));
    RFN_TRY(sizes(parser, FIRST, each, 0, &action->sends));
    RFN_TRY(bytes(parser, after, receive_each, &action->receive_bytes));
    RFN_TRY(root(parser, after + 1, &action->root));
    action->type_bytes = (uint32_t)each;
    return at_most(parser, after + 4 - FIRST);
}

/* BUFFER SENT*P BUFFER RECEIVED*P [TYPES]; the thesis has displacements behind each list. */
static int parse_alltoallv(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    const size_t n = parser->n_ranks;
    const bool displaced = is_thesis(parser) && parser->n_fields >= FIRST + 2 + 4 * n;
    const size_t second = FIRST + 1 + (displaced ? 2 * n : n);
    const size_t types = second + 1 + (displaced ? 2 * n : n);
    int64_t each, receive_each;
    RFN_TRY(type(parser, types, &each));
    RFN_TRY(type(parser, types + 1, &receive_each));
    RFN_TRY(sizes(parser, FIRST + 1, each, 0, &action->sends));
    RFN_TRY(sizes(parser, second + 1, receive_each, 1, &action->receives));
    action->type_bytes = (uint32_t)each;
    return at_most(parser, types + 2 - FIRST);
}

/* RECEIVED*P VOLUME [TYPE] */
static int parse_reduce_scatter(struct rfn_ti_parser *parser, struct rfn_action *action)
{
    const size_t after = FIRST + parser->n_ranks;
    int64_t each;
    RFN_TRY(type(parser, after + 1, &each));
    RFN_TRY(sizes(parser, FIRST, each, 1, &action->receives));
    RFN_TRY(volume(parser, after, &action->volume));
    action->type_bytes = (uint32_t)each;
    return at_most(parser, after + 2 - FIRST);
}

/* What is frequent comes first. KINDS: what tells no action. */
static const struct action_name names[] = {
    {"compute", RFN_ACTION_COMPUTE, parse_compute, COMMON},
    {"isend", RFN_ACTION_SEND, parse_posting, CASED},
    {"irecv", RFN_ACTION_RECV, parse_posting, CASED},
    {"wait", RFN_ACTION_WAIT, parse_wait, WAITING},
    {"send", RFN_ACTION_SEND, parse_blocking, MESSAGE},
    {"recv", RFN_ACTION_RECV, parse_blocking, MESSAGE},
    {"waitall", RFN_ACTION_WAIT, parse_waitall, CASED},
    {"allreduce", RFN_ACTION_ALLREDUCE, parse_reduce, CASED},
    {"sendrecv", RFN_ACTION_SENDRECV, parse_sendrecv, SIMGRID},
    {"bcast", RFN_ACTION_BCAST, parse_bcast, COMMON},
    {"barrier", RFN_ACTION_BARRIER, parse_alone, COMMON},
    {"reduce", RFN_ACTION_REDUCE, parse_reduce, COMMON},
    {"test", RFN_ACTION_TEST, parse_test, SIMGRID},
    {"alltoall", RFN_ACTION_ALLTOALL, parse_parts, CASED},
    {"alltoallv", RFN_ACTION_ALLTOALLV, parse_alltoallv, CASED},
    {"allgather", RFN_ACTION_ALLGATHER, parse_parts, CASED},
    {"allgatherv", RFN_ACTION_ALLGATHERV, parse_allgatherv, CASED},
    {"gather", RFN_ACTION_GATHER, parse_parts, COMMON},
    {"gatherv", RFN_ACTION_GATHERV, parse_gatherv, CASED},
    {"scatter", RFN_ACTION_SCATTER, parse_parts, COMMON},
    {"scatterv", RFN_ACTION_SCATTERV, parse_scatterv, CASED},
    {"reducescatter", RFN_ACTION_REDUCE_SCATTER, parse_reduce_scatter, CASED},
    {"scan", RFN_ACTION_SCAN, parse_reduce, SIMGRID},
    {"exscan", RFN_ACTION_EXSCAN, parse_reduce, SIMGRID},
    {"sleep", RFN_ACTION_SLEEP, parse_sleep, SIMGRID},
    {"init", RFN_ACTION_INIT, parse_init, COMMON},
    {"finalize", RFN_ACTION_FINALIZE, parse_alone, COMMON},
    {"location", RFN_ACTION_KINDS, parse_alone, SIMGRID},
    {"comm_size", RFN_ACTION_KINDS, parse_alone, COMMON},
    {"comm_split", RFN_ACTION_KINDS, parse_alone, COMMON},
    {"comm_dup", RFN_ACTION_KINDS, parse_alone, COMMON},
};

/* In any spelling. */
static const struct action_name *find_name(const struct rfn_ti_field *field, bool *capital)
{
    char name[NAME] = "";
    *capital = false;
    if (field->length >= sizeof name)
        return NULL;
    for (size_t i = 0; i < field->length; i++) {
        const bool upper = field->text[i] >= 'A' && field->text[i] <= 'Z';
        name[i] = (char)(field->text[i] | (upper ? 32 : 0));
        *capital |= upper;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].name[0] == name[0] && strcmp(names[i].name, name) == 0)
            return &names[i];
    }
    return NULL;
}

/* ---- lines ---- */

int64_t rfn_ti_line_rank(const char *text, size_t length)
{
    struct rfn_ti_field field;
    int64_t rank;
    if (!next_field(&text, text + length, &field) || field.text[0] == '#')
        return -1;
    return digits(&field, &rank) && rank < RANKS_MAX ? rank : RFN_E_CORRUPT;
}

bool rfn_ti_is_action(const char *text, size_t length)
{
    const char *end = text + length;
    struct rfn_ti_field rank, name;
    int64_t number;
    bool capital;
    return next_field(&text, end, &rank) && digits(&rank, &number) &&
           next_field(&text, end, &name) && find_name(&name, &capital);
}

/* Of `send 1 512 1`: its 512 and 1 as tag and count, and as count and type. */
static enum rfn_ti_line three_fields(const struct rfn_ti_field fields[3],
                                     struct rfn_ti_readings *readings)
{
    int64_t type_number, peer_number;
    double count, volume;
    const bool simgrid = is_tag(&fields[1], &readings->tag) && real(&fields[2], &count);
    const bool thesis = digits(&fields[0], &peer_number) && real(&fields[1], &volume) &&
                        volume >= 0 && volume <= COUNT_MAX && digits(&fields[2], &type_number) &&
                        type_number < THESIS_TYPES;
    if (!simgrid || !thesis)
        return simgrid ? RFN_TI_SIMGRID : thesis ? RFN_TI_THESIS : RFN_TI_EITHER;
    readings->simgrid_count = type_number; /* the same digits */
    readings->thesis_count = (int64_t)volume;
    readings->thesis_bytes = type_bytes[type_number];
    return volume > 0 || type_number > 0 ? RFN_TI_UNCLEAR : RFN_TI_EITHER;
}

/* Of a send or recv, its fields from `text` on. */
static enum rfn_ti_line message_dialect(const char *text, const char *end,
                                        struct rfn_ti_readings *readings)
{
    struct rfn_ti_field fields[4];
    size_t n = 0;
    while (n < 4 && next_field(&text, end, &fields[n]))
        n++;
    return n == 3 ? three_fields(fields, readings) : n == 4 ? RFN_TI_SIMGRID : RFN_TI_THESIS;
}

static enum rfn_ti_line line_dialect(const char *text, size_t length,
                                     struct rfn_ti_readings *readings)
{
    const char *end = text + length;
    struct rfn_ti_field field;
    bool capital;
    if (!next_field(&text, end, &field) || field.text[0] == '#' || !next_field(&text, end, &field))
        return RFN_TI_EITHER;
    const struct action_name *name = find_name(&field, &capital);
    switch (name ? name->told_by : COMMON) {
    case CASED:
        return capital ? RFN_TI_THESIS : RFN_TI_SIMGRID;
    case SIMGRID:
        return RFN_TI_SIMGRID;
    case WAITING:
        return next_field(&text, end, &field) ? RFN_TI_SIMGRID : RFN_TI_THESIS;
    case MESSAGE:
        return message_dialect(text, end, readings);
    default:
        return RFN_TI_EITHER;
    }
}

enum rfn_ti_line rfn_ti_line_dialect(const char *text, size_t length)
{
    struct rfn_ti_readings readings;
    return line_dialect(text, length, &readings);
}

void rfn_ti_readings(const char *text, size_t length, struct rfn_ti_readings *readings)
{
    *readings = (struct rfn_ti_readings){0};
    line_dialect(text, length, readings);
}

static int check_rank(struct rfn_ti_parser *parser)
{
    int64_t rank;
    const struct rfn_ti_field *field = &parser->fields[0];
    const int length = field->length > 24 ? 24 : (int)field->length;
    if (!digits(field, &rank))
        return fault(parser, "the line begins with \"%.*s\", not with a rank", length, field->text);
    if (rank != parser->rank)
        return fault(parser, "the line is rank %.*s's, in the file of rank %u", length, field->text,
                     parser->rank);
    return parser->n_fields < 2 ? fault(parser, "there is no action behind the rank") : 0;
}

/* Names of one dialect in text of the other: the text is a mixture. */
static int check_spelling(struct rfn_ti_parser *parser, const struct action_name *name,
                          bool capital)
{
    const bool thesis = is_thesis(parser);
    const bool other = (name->told_by == CASED && capital != thesis) ||
                       (name->told_by == SIMGRID && thesis);
    if (!parser->strict || !other)
        return 0;
    return fault(parser, "%.*s: so only %s dialect names it", (int)parser->fields[1].length,
                 parser->fields[1].text, thesis ? "SimGrid's" : "the thesis'");
}

int rfn_ti_parse(struct rfn_ti_parser *parser, const char *text, size_t length,
                 struct rfn_action *action)
{
    RFN_TRY(split(parser, text, length));
    if (!parser->n_fields || parser->fields[0].text[0] == '#')
        return 0;
    RFN_TRY(check_rank(parser));
    bool capital;
    const struct action_name *name = find_name(&parser->fields[1], &capital);
    if (!name)
        return fault(parser, "\"%.*s\" is no action that is known",
                     parser->fields[1].length > 24 ? 24 : (int)parser->fields[1].length,
                     parser->fields[1].text);
    RFN_TRY(check_spelling(parser, name, capital));
    *action = (struct rfn_action){.kind = name->kind, .request = -1, .type_bytes = 1};
    action->blocks = name->kind >= RFN_ACTION_SENDRECV;
    RFN_TRY(name->parse(parser, action));
    return name->kind != RFN_ACTION_KINDS;
}
