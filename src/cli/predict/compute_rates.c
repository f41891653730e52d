#include "cli/predict/compute_rates.h"

#include "cli/text/json.h"
#include "refrain/explain.h"

#include <stdlib.h>
#include <string.h>

/* ---- the runs ---- */

/* Sums of the activities of a run, by their names. */
struct sum {
    char *name; /* NULL: all */
    double volume, ns, n;
};

struct sums {
    struct sum *items;
    size_t n, capacity;
};

static char *name_of(const struct rfn_archive *archive, const struct rfn_activity *activity)
{
    struct rfn_text text = {0};
    rfn_activity_append(&text, archive, activity);
    const char *words = rfn_text_terminated(&text);
    char *name = text.failed ? NULL : malloc(strlen(words) + 1);
    if (name)
        strcpy(name, words);
    rfn_text_release(&text);
    return name;
}

/* NULL: memory ran out. Takes the name. */
static struct sum *sum_named(struct sums *sums, char *name)
{
    for (size_t i = 0; i < sums->n; i++) {
        if (name && sums->items[i].name && strcmp(sums->items[i].name, name) == 0) {
            free(name);
            return &sums->items[i];
        }
    }
    if (sums->n == sums->capacity) {
        const size_t capacity = 2 * sums->capacity + 64;
        struct sum *items = realloc(sums->items, capacity * sizeof *items);
        if (!items) {
            free(name);
            return NULL;
        }
        sums->items = items;
        sums->capacity = capacity;
    }
    sums->items[sums->n] = (struct sum){.name = name};
    return &sums->items[sums->n++];
}

static void release(struct sums *sums)
{
    for (size_t i = 0; i < sums->n; i++)
        free(sums->items[i].name);
    free(sums->items);
}

/* By activity of one reading of a run: what was computed, and how many times. */
struct reading {
    double *sums, *counts;
    size_t n;
};

static bool make_room(struct reading *reading, size_t n)
{
    if (n <= reading->n)
        return true;
    double *sums = realloc(reading->sums, 2 * n * sizeof *sums);
    reading->sums = sums ? sums : reading->sums;
    double *counts = sums ? realloc(reading->counts, 2 * n * sizeof *counts) : NULL;
    if (!counts)
        return false;
    reading->counts = counts;
    for (size_t i = reading->n; i < 2 * n; i++)
        sums[i] = counts[i] = 0;
    reading->n = 2 * n;
    return true;
}

static int read_actions(struct rfn_actions *actions, struct reading *reading)
{
    struct rfn_action action;
    int got = 0;
    for (uint32_t rank = 0; rank < rfn_actions_ranks(actions) && got >= 0; rank++) {
        while ((got = rfn_actions_next(actions, rank, &action)) > 0) {
            if (action.kind != RFN_ACTION_COMPUTE)
                continue;
            if (!make_room(reading, (size_t)action.activity + 1))
                return RFN_E_NOMEM;
            reading->sums[action.activity] += action.volume;
            reading->counts[action.activity]++;
        }
    }
    return got;
}

/* Volumes, or times, of a run, by name. */
static int add_reading(const struct rfn_archive *archive, struct rfn_actions *actions, bool times,
                       struct sums *sums)
{
    struct reading reading = {0};
    size_t n;
    int error = read_actions(actions, &reading);
    const struct rfn_activity *activities = rfn_actions_activities(actions, &n);
    for (size_t i = 0; i < n && i < reading.n && !error; i++) {
        char *name = name_of(archive, &activities[i]);
        struct sum *sum = name ? sum_named(sums, name) : NULL;
        if (!sum) {
            error = RFN_E_NOMEM;
            break;
        }
        *(times ? &sum->ns : &sum->volume) += reading.sums[i];
        sum->n += times ? 0 : reading.counts[i];
    }
    free(reading.sums);
    free(reading.counts);
    return error;
}

static int add_rate(struct rfn_compute_rates *rates, const char *file, struct sum *sum)
{
    if (!(sum->volume > 0 && sum->ns > 0 && sum->n > 0))
        return 0;
    if (rates->n == rates->capacity) {
        const size_t capacity = 2 * rates->capacity + 64;
        struct rfn_compute_rate *larger = realloc(rates->rates, capacity * sizeof *larger);
        if (!larger)
            return RFN_E_NOMEM;
        rates->rates = larger;
        rates->capacity = capacity;
    }
    rates->rates[rates->n++] = (struct rfn_compute_rate){sum->name, file, sum->volume / sum->n,
                                                         sum->volume / (sum->ns * 1e-9)};
    sum->name = NULL; /* is the rate's now */
    return 0;
}

static int add_rates(struct rfn_compute_rates *rates, const char *file, struct sums *sums)
{
    struct sum all = {0};
    for (size_t i = 0; i < sums->n; i++) {
        all.volume += sums->items[i].volume;
        all.ns += sums->items[i].ns;
        all.n += sums->items[i].n;
        RFN_TRY(add_rate(rates, file, &sums->items[i]));
    }
    return add_rate(rates, file, &all);
}

/* Whether the run tells how fast it computed what is predicted; else `wrong` says why not. */
static bool is_of_use(const struct rfn_run *run, const char *file, const struct rfn_run *predicted,
                      const char *name, struct rfn_text *wrong)
{
    if (!predicted->volume) {
        rfn_text_format(wrong, "%s has no volumes that a rate could be of; record it with --volume",
                        name);
        return false;
    }
    if (!run->times || !run->volume) {
        rfn_text_format(wrong,
                        "%s is no run with times and with volumes: record with --volume=%s, and "
                        "not with --time-independent",
                        file, predicted->volume);
        return false;
    }
    if (strcmp(run->volume, predicted->volume) != 0 ||
        strcmp(run->volume_unit, predicted->volume_unit) != 0) {
        rfn_text_format(wrong,
                        "%s counts %s, and %s, which is predicted, %s: record both with the same "
                        "--volume",
                        file, run->volume, name, predicted->volume);
        return false;
    }
    return true;
}

static int read_archive(struct rfn_compute_rates *rates, const struct rfn_archive *archive,
                        const char *file, struct rfn_diag *diag)
{
    struct rfn_actions *volumes = NULL, *times = NULL;
    struct sums sums = {0};
    int error = rfn_actions_of_archive(archive, false, &volumes, diag);
    if (!error)
        error = rfn_actions_of_archive(archive, true, &times, diag);
    if (!error)
        error = add_reading(archive, volumes, false, &sums);
    if (!error)
        error = add_reading(archive, times, true, &sums);
    if (!error)
        error = add_rates(rates, file, &sums);
    release(&sums);
    rfn_actions_free(volumes);
    rfn_actions_free(times);
    return error;
}

/* Averages first. */
static int by_activity(const void *a, const void *b)
{
    const struct rfn_compute_rate *x = a, *y = b;
    if (!x->activity || !y->activity)
        return (x->activity != NULL) - (y->activity != NULL);
    return strcmp(x->activity, y->activity);
}

int rfn_compute_rates_read(struct rfn_compute_rates *rates, const struct rfn_archive *predicted,
                           const char *name, struct rfn_text *wrong, struct rfn_diag *diag)
{
    for (size_t i = 0; i < rates->n_files; i++) {
        const char *file = rates->files[i];
        struct rfn_archive *archive;
        RFN_TRY(rfn_archive_open(file, &archive, diag));
        int error = RFN_E_UNSUPPORTED;
        if (is_of_use(rfn_archive_run(archive), file, rfn_archive_run(predicted), name, wrong))
            error = read_archive(rates, archive, file, diag);
        rfn_archive_close(archive);
        RFN_TRY(error);
    }
    if (!rates->n || rates->rates[rates->n - 1].activity) {
        rfn_text_string(wrong, "nothing is computed in the runs of --rates");
        return RFN_E_UNSUPPORTED;
    }
    qsort(rates->rates, rates->n, sizeof *rates->rates, by_activity);
    return 0;
}

void rfn_compute_rates_release(struct rfn_compute_rates *rates)
{
    for (size_t i = 0; i < rates->n; i++)
        free(rates->rates[i].activity);
    free(rates->rates);
    free(rates->ranges);
}

/* ---- what a computation takes ---- */

/* All rates of an activity of this name; NULL: the averages. */
static struct rfn_rate_range range_of(const struct rfn_compute_rates *rates, const char *name)
{
    struct rfn_rate_range range = {.known = true};
    for (size_t i = 0; i < rates->n; i++) {
        const char *other = rates->rates[i].activity;
        if (name ? !other || strcmp(other, name) != 0 : other != NULL)
            continue;
        range.first = range.n ? range.first : (uint32_t)i;
        range.n++;
    }
    return range;
}

/* By name, and kept by number while memory lasts. */
static struct rfn_rate_range range_numbered(struct rfn_compute_rates *rates,
                                            const struct rfn_archive *archive,
                                            const struct rfn_actions *actions, uint32_t number)
{
    size_t n;
    const struct rfn_activity *activities = rfn_actions_activities(actions, &n);
    if (number < rates->n_ranges && rates->ranges[number].known)
        return rates->ranges[number];
    char *name = name_of(archive, &activities[number]);
    struct rfn_rate_range range = range_of(rates, name ? name : "");
    free(name);
    if (range.n)
        rates->found++;
    else
        rates->missing++;
    if (!range.n)
        range = range_of(rates, NULL);
    struct rfn_rate_range *ranges = number < rates->n_ranges
                                        ? rates->ranges
                                        : realloc(rates->ranges, 2 * n * sizeof *ranges);
    if (!ranges)
        return range;
    if (number >= rates->n_ranges) {
        memset(ranges + rates->n_ranges, 0, (2 * n - rates->n_ranges) * sizeof *ranges);
        rates->n_ranges = 2 * n;
    }
    rates->ranges = ranges;
    rates->ranges[number] = range;
    return range;
}

static double times_as_much(double a, double b)
{
    return a > b ? a / b : b / a;
}

double rfn_compute_rates_seconds(struct rfn_compute_rates *rates, const struct rfn_archive *archive,
                                 const struct rfn_actions *actions, const struct rfn_action *action)
{
    const struct rfn_rate_range range = range_numbered(rates, archive, actions, action->activity);
    const struct rfn_compute_rate *nearest = &rates->rates[range.first];
    for (uint32_t i = 1; i < range.n; i++) {
        const struct rfn_compute_rate *rate = &rates->rates[range.first + i];
        if (times_as_much(action->volume, rate->each) <
            times_as_much(action->volume, nearest->each))
            nearest = rate;
    }
    return action->volume / nearest->per_second;
}

json_t *rfn_compute_rates_json(const struct rfn_compute_rates *rates)
{
    json_t *list = json_array();
    for (size_t i = 0; i < rates->n; i++) {
        const struct rfn_compute_rate *rate = &rates->rates[i];
        json_t *value = json_object();
        RFN_JSON_SET(value, "activity", rate->activity);
        RFN_JSON_SET(value, "file", rate->file);
        RFN_JSON_SET(value, "volume", rate->each);
        RFN_JSON_SET(value, "volume_per_second", rate->per_second);
        json_array_append_new(list, value);
    }
    return list;
}
