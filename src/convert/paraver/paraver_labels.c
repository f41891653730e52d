#include "convert/paraver/paraver_writing.h"

#include "base/copy_text.h"
#include "base/grow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels with values ---- */

uint32_t rfn_paraver_label(struct paraver_labels *labels, const char *label)
{
    const uint64_t key = rfn_hash_bytes(label, strlen(label));
    const uint64_t *found = rfn_map_get(&labels->values, key);
    if (found)
        return (uint32_t)*found;
    if (RFN_GROW(labels->labels, labels->capacity, labels->n + 1) < 0)
        return 0;
    char *copy = rfn_copy_text(label);
    if (!copy)
        return 0;
    labels->labels[labels->n++] = copy;
    return rfn_map_put(&labels->values, key, labels->n) < 0 ? 0 : (uint32_t)labels->n;
}

void rfn_paraver_labels_release(struct paraver_labels *labels)
{
    for (size_t i = 0; i < labels->n; i++)
        free(labels->labels[i]);
    free(labels->labels);
    rfn_map_release(&labels->values);
}

/* ---- NAME.pcf ---- */

static const char options[] = "DEFAULT_OPTIONS\n"
                              "\n"
                              "LEVEL               THREAD\n"
                              "UNITS               NANOSEC\n"
                              "LOOK_BACK           100\n"
                              "SPEED               1\n"
                              "FLAG_ICONS          ENABLED\n"
                              "NUM_OF_STATE_COLORS 1000\n"
                              "YMAX_SCALE          37\n"
                              "\n"
                              "DEFAULT_SEMANTIC\n"
                              "\n"
                              "THREAD_FUNC         State As Is\n";

static const struct {
    const char *label;
    enum paraver_state state;
    unsigned char red, green, blue;
} states[] = {{"Idle", PARAVER_IDLE, 117, 195, 255},
              {"Running", PARAVER_RUNNING, 0, 0, 255},
              {"Waiting a message", PARAVER_RECEIVING, 255, 0, 0},
              {"Blocking Send", PARAVER_SENDING, 255, 0, 174},
              {"Synchronization", PARAVER_SYNCHRONIZING, 179, 0, 0},
              {"Test/Probe", PARAVER_TESTING, 0, 255, 0},
              {"Wait/WaitAll", PARAVER_WAITING, 235, 0, 0},
              {"Immediate Send", PARAVER_POSTING_SEND, 255, 0, 255},
              {"Immediate Receive", PARAVER_POSTING_RECEIVE, 100, 100, 177},
              {"I/O", PARAVER_IN_FILES, 172, 174, 41},
              {"Group Communication", PARAVER_TOGETHER, 255, 144, 26},
              {"Others", PARAVER_ELSE, 192, 224, 0},
              {"Send Receive", PARAVER_BOTH, 66, 66, 66},
              {"Remote memory access", PARAVER_ACCESSING, 0, 109, 255}};

static void append_states(struct rfn_text *text)
{
    rfn_text_string(text, "\n\nSTATES\n");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        rfn_text_format(text, "%-4d %s\n", (int)states[i].state, states[i].label);
    rfn_text_string(text, "\n\nSTATES_COLOR\n");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        rfn_text_format(text, "%-4d {%d,%d,%d}\n", (int)states[i].state, states[i].red,
                        states[i].green, states[i].blue);
}

static void append_type(struct rfn_text *text, uint32_t type, const char *label)
{
    rfn_text_format(text, "0    %" PRIu32 "    %s\n", type, label);
}

static void append_value(struct rfn_text *text, uint32_t value, const char *label)
{
    rfn_text_format(text, "%" PRIu32 "      ", value);
    rfn_text_printable(text, label);
    rfn_text_char(text, '\n');
}

static void begin_values(struct rfn_text *text)
{
    rfn_text_string(text, "VALUES\n");
    append_value(text, 0, "End");
}

static void append_functions(struct rfn_text *text, const struct rfn_archive *archive)
{
    static const struct {
        enum paraver_type type;
        const char *label;
    } types[] = {{PARAVER_POINT_TO_POINT, "MPI Point-to-point"},
                 {PARAVER_COLLECTIVE, "MPI Collective Comm"},
                 {PARAVER_OTHER, "MPI Other"},
                 {PARAVER_ONE_SIDED, "MPI One-sided"},
                 {PARAVER_FILE, "MPI I/O"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        rfn_text_string(text, "\n\nEVENT_TYPE\n");
        append_type(text, types[i].type, types[i].label);
        begin_values(text);
        for (uint32_t k = 0; k < rfn_archive_functions(archive); k++) {
            const struct paraver_function function = rfn_paraver_function(archive, k);
            if (function.is_call && function.type == types[i].type)
                append_value(text, function.value, rfn_archive_function(archive, k)->name);
        }
    }
}

static void append_levels(struct rfn_text *text, uint32_t type, const char *label,
                          const struct paraver_labels *labels)
{
    rfn_text_string(text, "\n\nEVENT_TYPE\n");
    for (uint32_t level = 1; level <= PARAVER_LEVELS; level++)
        rfn_text_format(text, "0    %" PRIu32 "    %s at level %" PRIu32 "\n", type + level, label,
                        level);
    begin_values(text);
    for (size_t i = 0; i < labels->n; i++)
        append_value(text, (uint32_t)i + 1, labels->labels[i]);
}

static void append_regions(struct rfn_text *text, const struct rfn_archive *archive)
{
    if (!rfn_archive_regions(archive))
        return;
    rfn_text_string(text, "\n\nEVENT_TYPE\n");
    append_type(text, PARAVER_REGION, "Region of the program");
    begin_values(text);
    for (uint32_t i = 0; i < rfn_archive_regions(archive); i++)
        append_value(text, i + 1, rfn_archive_region(archive, i));
}

void rfn_paraver_pcf(struct rfn_text *text, const struct rfn_archive *archive,
                     const struct paraver_labels *functions, const struct paraver_labels *lines)
{
    rfn_text_string(text, options);
    append_states(text);
    append_functions(text, archive);
    rfn_text_string(text, "\n\nEVENT_TYPE\n");
    append_type(text, PARAVER_SENT_SIZE, "Send Size in MPI Global OP");
    append_type(text, PARAVER_RECEIVED_SIZE, "Recv Size in MPI Global OP");
    append_levels(text, PARAVER_CALLER, "Caller", functions);
    append_levels(text, PARAVER_LINE, "Caller line", lines);
    append_regions(text, archive);
}
