/* trace_model.h - what a run's events would take as a traditional trace and as a trace profile. */
#ifndef RFN_CLI_TEXT_TRACE_MODEL_H
#define RFN_CLI_TEXT_TRACE_MODEL_H

#include "cli/text/print_text.h"
#include "refrain/trace_profile.h"

#include <jansson.h>

/* An estimate for an archive, with one method of similarity. */
struct rfn_trace_model {
    const char *similar;
    struct rfn_trace_profile_stats stats;
    struct rfn_reduction_measures measures;
};

/* similar: METHOD or METHOD:THRESHOLD. Errors: those of rfn_trace_profile_new. */
int rfn_trace_model_make(struct rfn_trace_model *model, const struct rfn_archive *archive,
                         const char *similar, struct rfn_diag *diag);
/* A paragraph, with an empty line before it. */
void rfn_trace_model_append(struct rfn_text *out, const struct rfn_trace_model *model);
json_t *rfn_json_trace_model(const struct rfn_trace_model *model);

#endif
