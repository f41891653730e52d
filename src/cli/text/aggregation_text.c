#include "cli/text/aggregation_text.h"

#include "cli/text/json.h"
#include "cli/text/print_text.h"

static uint64_t left_out(const struct rfn_aggregation *of)
{
    uint64_t n = 0;
    for (size_t i = 0; i < of->n_gaps; i++)
        n += of->gaps[i].left_out;
    return n;
}

void rfn_aggregation_append(struct rfn_text *out, const struct rfn_archive *archive)
{
    struct rfn_aggregation of;
    if (rfn_aggregation_read(archive, &of, NULL) == 0 && of.any)
        rfn_text_format(out,
                        "%s of %s events were left out, which predictions do not need; what they "
                        "took counts as computing",
                        rfn_count_text(left_out(&of)).text, rfn_count_text(of.events).text);
    rfn_aggregation_release(&of);
}

json_t *rfn_json_aggregation(const struct rfn_archive *archive)
{
    struct rfn_aggregation of;
    json_t *value = json_null();
    if (rfn_aggregation_read(archive, &of, NULL) == 0 && of.any) {
        value = json_object();
        RFN_JSON_SET(value, "left_out", left_out(&of));
        RFN_JSON_SET(value, "full_events", of.events);
        RFN_JSON_SET(value, "full_bytes", of.file_bytes);
        RFN_JSON_SET(value, "least_seconds", rfn_json_seconds((double)of.least_ns));
        RFN_JSON_SET(value, "least_bytes", of.least_bytes);
        RFN_JSON_SET(value, "terms", of.terms);
    }
    rfn_aggregation_release(&of);
    return value;
}
