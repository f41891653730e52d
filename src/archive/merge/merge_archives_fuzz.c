/* Opens bytes as an archive, takes its ranks out one half at a time, and all of them. What is
 * written goes nowhere.
 *
 * To be built with -DRFN_FUZZING, and started from archives: tools/check.py. */
#include "archive/read/reader.h"
#include "refrain/merge_archives.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool is_even(const void *odd, uint32_t rank)
{
    return rank % 2 == *(const bool *)odd;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_archive *archive;
    struct rfn_merge_result merged;
    if (rfn_archive_open_memory(bytes, size, &archive, NULL) < 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        const bool odd = i;
        const struct rfn_rank_choice choice = {is_even, &odd};
        const struct rfn_merge_options options = {.choice = &choice};
        const struct rfn_archive *one = archive;
        rfn_merge_archives(&one, 1, &options, "/dev/null", true, &merged, NULL);
    }
    const struct rfn_archive *all = archive;
    const struct rfn_merge_options clustered = {.clusters = RFN_MERGE_CLUSTERED};
    rfn_merge_archives(&all, 1, &clustered, "/dev/null", true, &merged, NULL);
    rfn_archive_close(archive);
    return 0;
}
