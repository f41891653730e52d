/* ti_parser_fuzz.c - any bytes as time-independent text of four ranks, plain or compressed: what is
 * read makes sense, and what a writer makes of it is read again as it was written. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include "convert/actions_source.h"
#include "convert/text/text_stream.h"
#include "convert/text/ti_dialect.h"
#include "convert/text/ti_writer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 4 };

static void check_list(const int64_t *list)
{
    for (uint32_t i = 0; list && i < RANKS; i++) {
        if (list[i] < 0)
            abort();
    }
}

static void check(const struct rfn_action *action)
{
    if (action->kind >= RFN_ACTION_KINDS || !(action->volume >= 0) || action->root < 0 ||
        action->root >= RANKS || action->bytes < -1)
        abort();
    check_list(action->sends);
    check_list(action->receives);
    for (size_t i = 0; i < action->n_requests; i++) {
        if (action->requests[i] < 0)
            abort();
    }
}

/* A rank's lines are read in a dialect, and written in one. */
static void rewrite(uint32_t rank, const uint8_t *bytes, size_t size, enum rfn_text_dialect read,
                    enum rfn_text_dialect dialect, struct rfn_buf *text)
{
    struct rfn_ti_parser parser = {.rank = rank, .n_ranks = RANKS, .dialect = read};
    struct rfn_actions_summary summary = {0};
    struct rfn_actions actions = {.n_ranks = RANKS};
    struct rfn_ti_writer writer = {.actions = &actions,
                                   .dialect = dialect,
                                   .rank = rank,
                                   .n_ranks = RANKS,
                                   .summary = &summary,
                                   .text = text};
    const char *at = (const char *)bytes, *end = size ? at + size : at;
    while (at < end) {
        struct rfn_action action;
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);
        if (rfn_ti_parse(&parser, at, length, &action) > 0) {
            check(&action);
            (void)rfn_ti_write(&writer, &action);
        }
        at += length + 1;
    }
    rfn_ti_writer_release(&writer);
    rfn_ti_parser_release(&parser);
}

/* Nobody can take what was written for the other dialect. */
static void check_dialect(const struct rfn_buf *text, enum rfn_text_dialect dialect)
{
    struct rfn_ti_evidence evidence = {0};
    const char *at = (const char *)text->data, *end = text->size ? at + text->size : at;
    for (const char *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        rfn_ti_evidence_line(&evidence, "text", 1, at, (size_t)(stop - at));
    }
    if (evidence.unclear_path || (evidence.dialect != RFN_TEXT_ANY && evidence.dialect != dialect))
        abort();
}

/* What was written once is written the same way again. */
static void round_trip(uint32_t rank, const uint8_t *bytes, size_t size, enum rfn_text_dialect read,
                       enum rfn_text_dialect dialect)
{
    struct rfn_buf first = RFN_BUF_INIT, second = RFN_BUF_INIT;
    rewrite(rank, bytes, size, read, dialect, &first);
    check_dialect(&first, dialect);
    rewrite(rank, first.data, first.size, dialect, dialect, &second);
    if (first.size != second.size || (first.size && memcmp(first.data, second.data, first.size)))
        abort();
    rfn_buf_release(&first);
    rfn_buf_release(&second);
}

static void all_trips(uint32_t rank, const uint8_t *bytes, size_t size)
{
    for (enum rfn_text_dialect read = RFN_TEXT_SIMGRID; read <= RFN_TEXT_THESIS; read++) {
        for (enum rfn_text_dialect to = RFN_TEXT_SIMGRID; to <= RFN_TEXT_THESIS; to++)
            round_trip(rank, bytes, size, read, to);
    }
}

/* The same bytes as a file, which may begin as a compressed one. */
static void read_file(const uint8_t *bytes, size_t size)
{
    char path[] = "/tmp/refrain-fuzz-XXXXXX";
    const int file = mkstemp(path);
    struct rfn_actions *actions;
    struct rfn_diag diag;
    struct rfn_action action;
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        abort();
    close(file);
    if (rfn_actions_of_text(path, RFN_TEXT_ANY, &actions, &diag) == 0) {
        for (uint32_t rank = 0; rank < rfn_actions_ranks(actions) && rank < RANKS; rank++) {
            while (rfn_actions_next(actions, rank, &action) > 0)
                ;
        }
        rfn_actions_free(actions);
    }
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (uint32_t rank = 0; rank < RANKS && size && bytes[0] != 0x1f && bytes[0] != 0x28; rank++)
        all_trips(rank, bytes, size);
    read_file(bytes, size);
    return 0;
}
