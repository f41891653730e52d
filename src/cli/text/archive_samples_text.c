#include "cli/text/archive_samples_text.h"

#include "cli/text/json.h"
#include "cli/text/print_text.h"

void rfn_archive_samples_append(struct rfn_text *out, const struct rfn_archive *archive)
{
    struct rfn_samples of;
    if (rfn_samples_read_rows(archive, &of, NULL) == 0 && of.known) {
        rfn_text_format(out, "%s of %s messages, ", rfn_count_text(of.sampled).text,
                        rfn_count_text(of.messages).text);
        rfn_text_printable(out, of.strategy);
        if (of.changed)
            rfn_text_string(out, ", changed while the program ran");
        if (of.where[0]) {
            rfn_text_string(out, "; only messages of ");
            rfn_text_printable(out, of.where);
        }
        if (of.alone)
            rfn_text_string(out, "; events were not recorded");
    }
    rfn_samples_release(&of);
}

json_t *rfn_json_archive_samples(const struct rfn_archive *archive)
{
    struct rfn_samples of;
    json_t *value = json_null();
    if (rfn_samples_read_rows(archive, &of, NULL) == 0 && of.known) {
        uint64_t dropped = 0;
        for (int i = 0; i < RFN_SAMPLE_DROPS; i++)
            dropped += of.dropped[i];
        value = json_object();
        RFN_JSON_SET(value, "strategy", (const char *)of.strategy);
        RFN_JSON_SET(value, "changed", of.changed);
        RFN_JSON_SET(value, "where", of.where);
        RFN_JSON_SET(value, "alone", of.alone);
        RFN_JSON_SET(value, "messages", of.messages);
        RFN_JSON_SET(value, "bytes", of.bytes);
        RFN_JSON_SET(value, "sampled", of.sampled);
        RFN_JSON_SET(value, "dropped", dropped);
    }
    rfn_samples_release(&of);
    return value;
}
