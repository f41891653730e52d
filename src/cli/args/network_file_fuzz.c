/* Any bytes as a file of refrain calibrate: an error that is told, or numbers that a prediction can
 * take. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "cli/args/network_file.h"
#include "cli/text/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char file[] = "/tmp/refrain-fuzz-XXXXXX";

static void remove_file(void)
{
    unlink(file);
}

static FILE *open_file(void)
{
    static int fd = -1;
    if (fd < 0) {
        fd = mkstemp(file);
        close(fd);
        atexit(remove_file);
        rfn_json_init();
    }
    return fopen(file, "wb");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_network network;
    struct rfn_diag diag = {.file_offset = -1};
    FILE *out = open_file();
    if (!out || fwrite(bytes, 1, size, out) != size || fclose(out) != 0)
        abort();
    const int error = rfn_network_file_read(file, &network, &diag);
    if (error < 0 && !diag.text[0])
        abort();
    if (error == 0 && (!(network.latency_ns >= 0) || !(network.overhead_ns >= 0) ||
                       !(network.gap_per_byte_ns >= 0)))
        abort();
    return 0;
}
