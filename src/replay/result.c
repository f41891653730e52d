#include "replay/result.h"

#include "refrain/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

double rpl_accuracy(double t, double replayed)
{
    double off = t > replayed ? t - replayed : replayed - t;
    return 1 - off / t;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double rpl_median(double *values, int n)
{
    if (n <= 0)
        return 0;
    qsort(values, (size_t)n, sizeof *values, compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* ---- text ---- */

static void print_seconds(FILE *out, double seconds)
{
    const char *unit = seconds >= 1 ? "s" : seconds >= 1e-3 ? "ms" : "us";
    double factor = seconds >= 1 ? 1 : seconds >= 1e-3 ? 1e3 : 1e6;
    fprintf(out, "%.4g %s", seconds * factor, unit);
}

static void print_bytes(FILE *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1024 && unit < 6; unit++)
        value /= 1024;
    fprintf(out, "%.4g %s", value, units[unit]);
}

/* File names may hold anything. */
static void print_name(FILE *out, const char *name)
{
    struct rfn_text printable = {0};
    rfn_text_printable(&printable, name);
    fputs(rfn_text_terminated(&printable), out);
    rfn_text_release(&printable);
}

static void print_times(const struct rpl_result *result, struct rpl_replayed *one, FILE *out)
{
    double median = rpl_median(one->seconds, result->repeats);
    fprintf(out, "  replayed in ");
    print_seconds(out, median);
    if (result->repeats > 1) {
        fprintf(out, " (median of %d: ", result->repeats);
        print_seconds(out, one->seconds[0]);
        fprintf(out, " to ");
        print_seconds(out, one->seconds[result->repeats - 1]);
        fputc(')', out);
    }
    fputc('\n', out);
    if (one->recorded_seconds <= 0)
        return;
    fprintf(out, "  recorded    ");
    print_seconds(out, one->recorded_seconds);
    if (result->scale == 1)
        fprintf(out, ", ACC %.1f %%", 100 * rpl_accuracy(one->recorded_seconds, median));
    fputc('\n', out);
}

static void print_skipped(const struct rpl_replayed *one, FILE *out)
{
    const char *before = "  not replayed: ";
    for (uint32_t i = 0; i < rfn_archive_functions(one->archive); i++) {
        if (!one->skipped[i])
            continue;
        fprintf(out, "%s%llu ", before, (unsigned long long)one->skipped[i]);
        print_name(out, rfn_archive_function(one->archive, i)->name);
        before = ", ";
    }
    if (before[0] == ',')
        fputc('\n', out);
    if (one->failed)
        fprintf(out, "  not replayed: %llu calls that failed when they were recorded\n",
                (unsigned long long)one->failed);
}

/* A run may have been longer by what they took from others' cores. */
static void print_polls(const struct rpl_replayed *one, FILE *out)
{
    if (!one->polls)
        return;
    fprintf(out, "  left out: %llu unsuccessful poll%s", (unsigned long long)one->polls,
            one->polls == 1 ? "" : "s");
    if (one->polls_seconds > 0) {
        fprintf(out, ", ");
        print_seconds(out, one->polls_seconds / rfn_archive_run(one->archive)->ranks);
        fprintf(out, " per rank");
    }
    fprintf(out, "; the call that completes waits\n");
}

static void print_compute(const struct rpl_result *result, const struct rfn_run *run, FILE *out)
{
    if (!run->times)
        fprintf(out, "  computing: none, as the archive has no times\n");
    else if (result->scale == 0)
        fprintf(out, "  computing is left out\n");
    else if (result->scale != 1)
        fprintf(out, "  computing, times %g: %s (%s)\n", result->scale,
                result->sleeps ? "asleep" : "busy loop", result->why);
    else
        fprintf(out, "  computing: %s (%s)\n", result->sleeps ? "asleep" : "busy loop",
                result->why);
}

static void print_one(const struct rpl_result *result, struct rpl_replayed *one, FILE *out)
{
    const struct rfn_run *run = rfn_archive_run(one->archive);
    print_name(out, one->file);
    fprintf(out, "%s: %u rank%s on %s, %llu calls, %llu messages of ",
            run->reduced ? " (reduced)" : "", run->ranks, run->ranks == 1 ? "" : "s", result->mpi,
            (unsigned long long)one->issued, (unsigned long long)one->messages);
    print_bytes(out, one->bytes);
    fprintf(out, ", received as recorded\n");
    if (one == result->replays)
        print_compute(result, run, out);
    print_times(result, one, out);
    print_skipped(one, out);
    print_polls(one, out);
}

static void print_text(const struct rpl_result *result, FILE *out)
{
    for (int i = 0; i < result->n_replays; i++)
        print_one(result, &result->replays[i], out);
    if (result->n_replays < 2)
        return;
    bool timed = true;
    for (int i = 0; i < 2; i++)
        timed &= rfn_archive_run(result->replays[i].archive)->times;
    double t = rpl_median(result->replays[1].seconds, result->repeats);
    double replayed = rpl_median(result->replays[0].seconds, result->repeats);
    fprintf(out, "ACC of ");
    print_name(out, result->replays[0].file);
    fprintf(out, " against the replay of ");
    print_name(out, result->replays[1].file);
    fprintf(out, "%s: %.1f %%%s\n",
            rfn_archive_run(result->replays[1].archive)->reduced ? " (reduced)" : "",
            100 * rpl_accuracy(t, replayed),
            timed ? "" : " (an archive without times computes nothing)");
}

/* ---- JSON ---- */

static json_t *text_value(const char *text)
{
    struct rfn_text valid = {0};
    rfn_text_utf8(&valid, text);
    json_t *value = json_string(rfn_text_terminated(&valid));
    rfn_text_release(&valid);
    return value;
}

static json_t *json_of(const struct rpl_result *result, struct rpl_replayed *one)
{
    json_t *value = json_object(), *runs = json_array(), *skipped = json_object();
    double median = rpl_median(one->seconds, result->repeats);
    for (int i = 0; i < result->repeats; i++)
        json_array_append_new(runs, json_real(one->seconds[i]));
    for (uint32_t i = 0; i < rfn_archive_functions(one->archive); i++) {
        if (one->skipped[i])
            json_object_set_new(skipped, rfn_archive_function(one->archive, i)->name,
                                json_integer((json_int_t)one->skipped[i]));
    }
    json_object_set_new(value, "file", text_value(one->file));
    json_object_set_new(value, "reduced", json_boolean(rfn_archive_run(one->archive)->reduced));
    json_object_set_new(value, "calls", json_integer((json_int_t)one->issued));
    json_object_set_new(value, "messages", json_integer((json_int_t)one->messages));
    json_object_set_new(value, "message_bytes", json_integer((json_int_t)one->bytes));
    json_object_set_new(value, "not_replayed", skipped);
    json_object_set_new(value, "failed_when_recorded", json_integer((json_int_t)one->failed));
    json_object_set_new(value, "unsuccessful_polls", json_integer((json_int_t)one->polls));
    json_object_set_new(value, "seconds_in_unsuccessful_polls", json_real(one->polls_seconds));
    json_object_set_new(value, "replayed_seconds", json_real(median));
    json_object_set_new(value, "repetitions", runs);
    if (one->recorded_seconds > 0)
        json_object_set_new(value, "recorded_seconds", json_real(one->recorded_seconds));
    if (one->recorded_seconds > 0 && result->scale == 1)
        json_object_set_new(value, "accuracy",
                            json_real(rpl_accuracy(one->recorded_seconds, median)));
    return value;
}

static int print_json(const struct rpl_result *result, FILE *out)
{
    json_t *value = json_of(result, &result->replays[0]);
    json_object_set_new(value, "ranks",
                        json_integer(rfn_archive_run(result->replays[0].archive)->ranks));
    json_object_set_new(value, "mpi", text_value(result->mpi));
    json_object_set_new(value, "compute",
                        text_value(result->scale == 0 ? "none"
                                   : result->sleeps   ? "sleep"
                                                      : "busy"));
    json_object_set_new(value, "scale_compute", json_real(result->scale));
    if (result->n_replays > 1) {
        double t = rpl_median(result->replays[1].seconds, result->repeats);
        double replayed = rpl_median(result->replays[0].seconds, result->repeats);
        json_object_set_new(value, "against", json_of(result, &result->replays[1]));
        json_object_set_new(value, "accuracy_against", json_real(rpl_accuracy(t, replayed)));
    }
    int error = json_dumpf(value, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) ? RFN_E_NOMEM : 0;
    json_decref(value);
    fputc('\n', out);
    return error;
}

int rpl_result_print(struct rpl_result *result, bool json, FILE *out)
{
    if (json)
        return print_json(result, out);
    print_text(result, out);
    return 0;
}
