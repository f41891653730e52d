/* cmd_verify.c - refrain verify: every checksum and every rule of the format, over the whole file.
 */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/text/json.h"
#include "cli/text/print_text.h"
#include "cli/text/terminal.h"
#include "refrain/archive.h"

#include <stdio.h>

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0},
};

static int print_json(const char *file, int error, const struct rfn_diag *diag, int status)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "file", file);
    RFN_JSON_SET(value, "whole", json_boolean(error >= 0));
    if (error < 0) {
        const char *text = diag->text[0] ? diag->text : rfn_error_text(error);
        RFN_JSON_SET(value, "error", text);
        RFN_JSON_SET(value, "offset",
                     diag->file_offset >= 0 ? json_integer(diag->file_offset) : json_null());
        RFN_JSON_SET(value, "rank", diag->rank >= 0 ? json_integer(diag->rank) : json_null());
    }
    return rfn_command_print_json(value, status);
}

/* "app.rfn: whole, 4 ranks, 12,345 events, 8.21 KiB, all checks passed" */
static int print_whole(const char *file)
{
    struct rfn_archive *archive;
    struct rfn_text text = {0};
    uint64_t events = 0;
    int status = rfn_command_open(file, &archive);
    if (status)
        return status;
    const struct rfn_run *run = rfn_archive_run(archive);
    for (uint32_t i = 0; i < run->streams; i++)
        events += rfn_archive_stream(archive, i).events;
    rfn_text_printable(&text, file);
    rfn_text_format(&text, ": whole, %u rank%s, %s events in %s, all checks passed\n", run->ranks,
                    run->ranks == 1 ? "" : "s", rfn_count_text(events).text,
                    rfn_bytes_text(run->file_bytes).text);
    rfn_archive_close(archive);
    return rfn_command_print(&text, file, RFN_EXIT_OK);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct rfn_file_argument given = {0};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "checking"};
    rfn_command_parse(command, rfn_file_argument_parse, argc, argv, &given);
    int error = rfn_archive_verify(given.file, rfn_progress_show, &progress, &diag);
    rfn_progress_done(&progress);
    int status = error < 0 ? rfn_command_fail(given.file, error, &diag) : RFN_EXIT_OK;
    if (given.json)
        return print_json(given.file, error, &diag, status);
    return error < 0 ? status : print_whole(given.file);
}

const struct rfn_command rfn_cmd_verify = {
    .name = "verify",
    .summary = "Checks that an archive is whole and undamaged",
    .usage = "FILE",
    .about =
        "Checks every checksum and decodes every event. Exits with 0 if the file is whole, with "
        "3 if it is damaged or incomplete; then the message tells what is wrong and where.",
    .options = options,
    .run = run,
};
