/* messages.c - prints every message of an archive with both its ends, by librefrain:
 *
 *     cc messages.c $(pkg-config --static --cflags --libs refrain) -o messages
 *     ./messages halo.8.rfn
 */
#include <refrain/match.h>

#include <inttypes.h>
#include <stdio.h>

static int print(void *context, const struct rfn_match_message *message)
{
    const struct rfn_match_end *ends[] = {&message->sent, &message->received};
    (void)context;
    printf("%" PRId64 " bytes, tag %" PRId64, message->bytes, message->tag);
    for (int i = 0; i < 2; i++)
        printf(", %s %" PRIu32 " (event %" PRIu64 " at %.6f s, over at %.6f s)",
               i ? "to rank" : "from rank", ends[i]->posted.rank, ends[i]->posted.event,
               (double)ends[i]->posted.ns * 1e-9, (double)ends[i]->exit_ns * 1e-9);
    return putchar('\n') == EOF ? RFN_E_IO : 0;
}

int main(int argc, char **argv)
{
    const struct rfn_match_hooks hooks = {.message = print};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_archive *archive;
    if (argc != 2)
        return fprintf(stderr, "usage: messages ARCHIVE\n"), 2;
    int error = rfn_archive_open(argv[1], &archive, &diag);
    if (!error) {
        error = rfn_match_run(archive, &hooks, NULL, &diag);
        rfn_archive_close(archive);
    }
    if (error)
        fprintf(stderr, "messages: %s\n", diag.text);
    return error ? 1 : 0;
}
