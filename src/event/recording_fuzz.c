/* Any bytes as each of the values that options of `refrain record` take: none, or one within its
 * limits. Behind a line's end there may be a name that patterns of functions are held against. */
#include "refrain/recording.h"

#include "support/text_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void read_numbers(const char *text)
{
    struct rfn_path_ends ends;
    struct rfn_kept_limits limits;
    struct rfn_every every;
    const uint64_t ns = rfn_resolution_parse(text), bytes = rfn_size_parse(text),
                   rate = rfn_function_rate_parse(text);
    expect(ns <= RFN_RESOLUTION_MAX_NS);
    expect(!bytes || bytes >= 1 << 20);
    expect(rate <= 1000000000 || rate == UINT64_MAX);
    if (rfn_path_match_parse(text, &ends))
        expect(ends.inner <= 1000 && ends.outer <= 1000);
    if (rfn_kept_limits_parse(text, &limits))
        expect(limits.ns >= 1 && limits.ns <= 1000000000 && limits.bytes >= 0);
    if (rfn_every_parse(text, &every))
        expect(!every.segments || !every.ns);
}

static void read_methods(const char *text)
{
    struct rfn_diag diag = {.file_offset = -1};
    char across[RFN_ACROSS_TEXT];
    expect(rfn_similarity_check(text, &diag) == 0 || diag.text[0]);
    diag.text[0] = '\0';
    if (rfn_across_text(text, "avgWave:0.2", across, &diag) == 0)
        expect(!across[0] || strcmp(across, "one") == 0 || rfn_similarity_check(across, NULL) == 0);
    else
        expect(diag.text[0] && !across[0]);
    (void)rfn_volume_known(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = text_of_bytes(bytes, size), *name = strchr(text, '\n');
    if (name)
        *name++ = '\0';
    read_numbers(text);
    read_methods(text);
    if (rfn_function_patterns(text))
        (void)rfn_function_wanted(text, name, NULL);
    free(text);
    return 0;
}
