/* compute_rates.h - how fast a machine computes the parts of a program: refrain predict --rates.
 *
 * A rate is volume per second of an activity, from runs on that machine that have both. Of several
 * runs, of several sizes, the one counts whose activity has about the same volume each time: then
 * its data fit the same caches (Markomanolis, 4.2). An activity that no run has takes the average
 * of the run whose activities are nearest in size.
 */
#ifndef RFN_CLI_PREDICT_COMPUTE_RATES_H
#define RFN_CLI_PREDICT_COMPUTE_RATES_H

#include "refrain/actions.h"
#include "refrain/text.h"

#include <jansson.h>

enum { RFN_MOST_RATE_FILES = 16 };

struct rfn_compute_rate {
    char *activity; /* as the report calls it; NULL: all of the run */
    const char *file;
    double each;       /* volume, on average of its computations */
    double per_second; /* volume */
};

struct rfn_compute_rates {
    const char *files[RFN_MOST_RATE_FILES];
    size_t n_files;
    struct rfn_compute_rate *rates; /* by activity, averages first */
    size_t n, capacity;
    struct rfn_rate_range {
        uint32_t first, n; /* of rates */
        bool known;
    } * ranges; /* by activity of the run that is predicted */
    size_t n_ranges;
    size_t found, missing; /* of its activities so far */
};

/* Reads the files, for the archive that is predicted, which is called `name`. RFN_E_UNSUPPORTED:
 * that one has no volumes, or a file no times, or other volumes; `wrong` says which. To be
 * released, also after an error. */
int rfn_compute_rates_read(struct rfn_compute_rates *rates, const struct rfn_archive *predicted,
                           const char *name, struct rfn_text *wrong, struct rfn_diag *diag);
void rfn_compute_rates_release(struct rfn_compute_rates *rates);

/* Seconds that a COMPUTE of these actions, which are the archive's, takes. */
double rfn_compute_rates_seconds(struct rfn_compute_rates *rates, const struct rfn_archive *archive,
                                 const struct rfn_actions *actions,
                                 const struct rfn_action *action);

/* [{"activity", "file", "volume", "volume_per_second"}]; NULL: memory ran out. */
json_t *rfn_compute_rates_json(const struct rfn_compute_rates *rates);

#endif
