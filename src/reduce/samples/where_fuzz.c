/* Any bytes as conditions of --sample-where, and behind a line's end a name that they are asked
 * about: an error that is told, or an answer; without a condition all fits. */
#include "reduce/samples/where.h"

#include "support/text_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void ask(const struct rfn_sample_where *where, const char *name)
{
    for (int kind = 0; kind < RFN_WHERE_PATTERNS; kind++) {
        const bool fits = rfn_sample_where_fits(where, (enum rfn_where_pattern)kind, name);
        if (!where->patterns[kind] && !fits)
            abort();
    }
    if (!rfn_sample_where_bytes(where, where->least_bytes) ||
        !rfn_sample_where_bytes(where, where->most_bytes))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_sample_where where;
    struct rfn_diag diag = {.file_offset = -1};
    char *text = text_of_bytes(bytes, size), *name = strchr(text, '\n');
    if (name)
        *name++ = '\0';
    const int error = rfn_sample_where_parse(text, &where, &diag);
    if (error == 0)
        ask(&where, name ? name : "MPI_Send");
    else if (error != RFN_E_NOMEM && !diag.text[0])
        abort();
    rfn_sample_where_release(&where);
    free(text);
    return 0;
}
