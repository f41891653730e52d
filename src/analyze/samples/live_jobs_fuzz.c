/* What a process shows, with some bytes of it changed: the input is a list of places, each a
 * little-endian number of 3 bytes, and new bytes, 8 each. Whatever is there, a reader ends, and so
 * do the estimates. */
#define _GNU_SOURCE /* mkdtemp */
#include "refrain/live.h"

#include "reduce/samples/live_segment.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 8, CHANGE = 11 };

static struct rfn_live_segment segment;
static uint8_t *whole;
static char place[] = "/tmp/refrain-live-fuzz-XXXXXX";

static void make_segment(void)
{
    const struct rfn_live_owner owner = {.archive = "a.rfn", .program = "prog", .ranks = 2};
    if (rfn_live_segment_create(&segment, &owner, ROWS, NULL) < 0 || !segment.file[0])
        abort();
}

static void remove_all(void)
{
    char folder[64];
    snprintf(folder, sizeof folder, "%s/refrain-%u", place, (unsigned)geteuid());
    unlink(segment.file);
    rmdir(folder);
    rmdir(place);
}

/* A sender's row and one with samples, in a folder of the fuzzer's own. */
static void begin(void)
{
    const struct rfn_sample_key sent = {.source = 0, .dest = 1, .send = 1};
    const struct rfn_sample_key got = {.source = 1, .dest = 0, .send = 1, .receive = 2};
    if (!mkdtemp(place))
        abort();
    rfn_live_first_place = place;
    make_segment();
    atexit(remove_all);
    rfn_sample_table_row(segment.table, &sent)->messages = 1000;
    for (int k = 1; k <= 400; k++) {
        const struct rfn_sample_values values = {.latency_ns = 100 * k, .weight = 2};
        rfn_sample_row_sample(rfn_sample_table_row(segment.table, &got), &values, true);
    }
    whole = malloc(segment.bytes);
    if (!whole)
        abort();
    memcpy(whole, segment.header, segment.bytes);
}

static void look(const struct rfn_live_process *process)
{
    struct rfn_live_rows rows;
    struct rfn_sample_row sum = {.key = {.source = RFN_SAMPLE_ANY}};
    if (rfn_live_rows_read(process, &rows, NULL) == 0) {
        for (size_t i = 0; i < rows.n; i++)
            rfn_sample_row_add(&sum, &rows.rows[i]);
        rfn_sample_mean(&sum, (double)sum.messages);
        rfn_sample_quantile(&sum, 0.5, (double)sum.messages);
        rfn_sample_quantile(&sum, 0.99, sum.weight);
    }
    rfn_live_rows_release(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rfn_live_list list;
    if (!whole)
        begin();
    if (access(segment.file, F_OK) < 0) { /* it was taken for that of a process that is gone */
        munmap(segment.header, segment.bytes);
        make_segment();
    }
    memcpy(segment.header, whole, segment.bytes);
    for (; size >= CHANGE; data += CHANGE, size -= CHANGE) {
        const size_t at = (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;
        memcpy((uint8_t *)segment.header + at % (segment.bytes - 8), data + 3, 8);
    }
    if (rfn_live_list(&list) == 0) {
        for (size_t i = 0; i < list.n; i++)
            look(&list.processes[i]);
    }
    rfn_live_list_release(&list);
    return 0;
}
