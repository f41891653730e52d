/* whatif_page.c - what mending this or that would save, for people and for machines. */
#include "cli/text/hosts.h"
#include "cli/text/json.h"
#include "cli/text/left_out_text.h"
#include "cli/text/table.h"
#include "cli/text/wrap.h"
#include "cli/whatif/whatif.h"

#include <math.h>

static const struct rfn_selector *selector_of(const struct rfn_remedy *remedy)
{
    return remedy->assumption.context;
}

static int64_t as_given(const struct rfn_whatif *whatif)
{
    return whatif->prediction.predicted_ns[0];
}

static double share_of(const struct rfn_whatif *whatif, int64_t ns)
{
    const double all = (double)whatif->prediction.recorded_ns;
    return all > 0 ? (double)ns / all : 0;
}

static void sentence(struct rfn_text *out, const struct rfn_whatif *whatif, struct rfn_text *text)
{
    rfn_text_wrap(out, text, whatif->width, 3);
    rfn_text_release(text);
}

/* ---- the first lines ---- */

/* "halo on 4 ranks ran for 6.84 s. With wait:MPI_Waitall gone it would take 4.53 s, 33.8 % less
 * (2.31 s)." */
static void append_given(struct rfn_text *out, const struct rfn_whatif *whatif)
{
    const struct rfn_run *run = rfn_archive_run(whatif->run->archive);
    const int64_t recorded = whatif->prediction.recorded_ns, saved = recorded - as_given(whatif);
    struct rfn_text text = {0};
    rfn_text_printable(&text, run->program ? run->program : "?");
    rfn_text_format(&text, " on %u rank%s ran for %s.", run->ranks, run->ranks == 1 ? "" : "s",
                    rfn_time_text(recorded).text);
    for (size_t i = 0; i < whatif->n_given; i++) {
        rfn_text_string(&text, i ? " and " : " With ");
        rfn_selector_append(&text, &whatif->given[i]);
        if (whatif->caps_ns[i])
            rfn_text_format(&text, " taking at most %s", rfn_time_text(whatif->caps_ns[i]).text);
        else if (whatif->factors[i] > 0)
            rfn_text_format(&text, " %s %g times as %s",
                            whatif->given[i].kind >= RFN_SELECT_L ? "being" : "taking",
                            whatif->factors[i],
                            whatif->given[i].kind >= RFN_SELECT_L ? "large" : "long");
        else
            rfn_text_string(&text, " gone");
    }
    if (whatif->n_given && saved >= 0)
        rfn_text_format(&text, " it would take %s, %s less (%s).",
                        rfn_time_text(as_given(whatif)).text,
                        rfn_share_text(share_of(whatif, saved)).text, rfn_time_text(saved).text);
    else if (whatif->n_given)
        rfn_text_format(&text, " it would take %s, %s more.", rfn_time_text(as_given(whatif)).text,
                        rfn_time_text(-saved).text);
    sentence(out, whatif, &text);
}

/* How far to trust it. */
static void append_trust(struct rfn_text *out, const struct rfn_whatif *whatif)
{
    const struct rfn_network *network = &whatif->network;
    struct rfn_text text = {0};
    rfn_text_format(&text, "Network: L %s, o %s, G %.3g ns per byte, S %s, ",
                    rfn_time_text((int64_t)network->latency_ns).text,
                    rfn_time_text((int64_t)network->overhead_ns).text, network->gap_per_byte_ns,
                    rfn_bytes_text((uint64_t)network->eager_bytes).text);
    if (whatif->network_file) {
        rfn_text_string(&text, "measured by refrain calibrate (");
        rfn_text_printable(&text, whatif->network_file);
        rfn_text_string(&text, ").");
    } else if (whatif->estimated) {
        rfn_text_format(&text, "estimated from %s message%s.",
                        rfn_count_text(whatif->estimated).text, whatif->estimated == 1 ? "" : "s");
    } else {
        rfn_text_string(&text, "assumed: no message shows it.");
    }
    if (whatif->prediction.clamped_ns > 0)
        rfn_text_format(&text, " Times do not fit together by %s in all: that much may be wrong.",
                        rfn_time_text(whatif->prediction.clamped_ns).text);
    if (whatif->prediction.overtaken)
        rfn_text_format(&text,
                        " %s messages to MPI_ANY_SOURCE would have come before others that were "
                        "received before them: the run might go another way, and be faster.",
                        rfn_count_text(whatif->prediction.overtaken).text);
    rfn_text_char(&text, ' ');
    if (rfn_crowding_append(&text, whatif->run->archive))
        rfn_text_string(&text, ": what one saves there others get, too, which is not predicted.");
    sentence(out, whatif, &text);
}

/* ---- remedies ---- */

static void append_remedies(struct rfn_text *out, const struct rfn_whatif *whatif)
{
    const struct rfn_candidates *candidates = whatif->candidates;
    struct rfn_table table;
    size_t n = 0, shown = 0;
    if (!whatif->top)
        return;
    rfn_table_init(&table, "rrrrrl", "saved\tshare\tif halved\tfirst 1 %\tat most\tgone");
    for (size_t i = 0; i < candidates->n; i++) {
        const struct rfn_remedy *remedy = &candidates->remedies[i];
        struct rfn_text name = {0};
        if (!remedy->evaluated || remedy->saved_ns <= 0)
            continue;
        n++;
        if (shown == whatif->top)
            continue;
        shown++;
        rfn_table_row(
            &table, "%s\t%s\t%s\t%s\t%s", rfn_time_text(remedy->saved_ns).text,
            rfn_share_text(share_of(whatif, remedy->saved_ns)).text,
            rfn_time_text(remedy->saved_half_ns).text, rfn_time_text(remedy->saved_first_ns).text,
            remedy->bound_ns < as_given(whatif) ? rfn_time_text(remedy->bound_ns).text : "");
        rfn_selector_append(&name, selector_of(remedy));
        if (remedy->assumption.factor > 0)
            rfn_text_format(&name, "=%.3g, the mean of all ranks", remedy->assumption.factor);
        rfn_table_text(&table, &name);
    }
    rfn_text_string(out, n ? "\nWhat would it save if something were gone?"
                           : "\nNothing that is gone would save time.\n");
    if (n > shown)
        rfn_text_format(out, " (%zu of %zu; --top N shows more)", shown, n);
    rfn_text_string(out, n ? "\n" : "");
    rfn_table_fit(&table, whatif->width, (const unsigned[]){4, 3, 2}, 3);
    rfn_table_print(&table, 2, n ? out : NULL);
}

static void append_untold(struct rfn_text *out, const struct rfn_whatif *whatif)
{
    struct rfn_text text = {0};
    if (!whatif->candidates->untold)
        return;
    rfn_text_format(&text,
                    "%zu more cannot be predicted from this file, as calls were left out "
                    "(refrain reduce --keep-predictions): ask the full archive.",
                    whatif->candidates->untold);
    rfn_text_string(out, "  ");
    sentence(out, whatif, &text);
}

/* ---- the run time as a function ---- */

enum { CURVE_ROWS = 20 };

/* What a factor means, where it is of a time of the network: "8.10 us". false: it is not. */
static bool append_parameter(struct rfn_text *text, const struct rfn_whatif *whatif, double factor)
{
    const struct rfn_network *network = &whatif->network;
    switch (whatif->curve_of->kind) {
    case RFN_SELECT_L:
        rfn_text_string(text, rfn_time_text((int64_t)(factor * network->latency_ns)).text);
        return true;
    case RFN_SELECT_O:
        rfn_text_string(text, rfn_time_text((int64_t)(factor * network->overhead_ns)).text);
        return true;
    case RFN_SELECT_G:
        rfn_text_format(text, "%.3g ns/B", factor * network->gap_per_byte_ns);
        return true;
    default:
        return false;
    }
}

/* "L may grow to 8.10 us (8.1 times) before the run takes 1 % longer." */
static void append_tolerance(struct rfn_text *out, const struct rfn_whatif *whatif)
{
    const double factor = whatif->curve.tolerated;
    struct rfn_text text = {0}, value = {0};
    rfn_selector_append(&text, whatif->curve_of);
    if (isinf(factor))
        rfn_text_string(&text, " may take a million times as long: the run would take less than "
                               "1 % longer.");
    else if (append_parameter(&value, whatif, factor))
        rfn_text_format(&text, " may grow to %s, %.4g times as much,", rfn_text_terminated(&value),
                        factor);
    else
        rfn_text_format(&text, " may take %.4g times as long", factor);
    if (!isinf(factor))
        rfn_text_string(&text, " before the run takes 1 % longer.");
    rfn_text_release(&value);
    rfn_text_string(out, "  ");
    sentence(out, whatif, &text);
}

/* Every step-th point, and the last one. */
static size_t next_row(const struct rfn_curve *curve, size_t point, size_t step)
{
    const size_t last = curve->n - 1;
    return point == last ? curve->n : point + step < last ? point + step : last;
}

static void append_curve(struct rfn_text *out, const struct rfn_whatif *whatif)
{
    const struct rfn_curve *curve = &whatif->curve;
    const size_t step = 1 + (curve->n - (curve->n > 0)) / CURVE_ROWS;
    struct rfn_table table;
    if (!whatif->curve_of)
        return;
    struct rfn_text value = {0};
    const bool network = append_parameter(&value, whatif, 1);
    rfn_text_release(&value);
    rfn_text_string(out, "\nHow does the run time depend on ");
    rfn_selector_append(out, whatif->curve_of);
    rfn_text_string(out, "?\n");
    append_tolerance(out, whatif);
    rfn_text_string(out, "  Its slope changes at");
    if (curve->n > CURVE_ROWS)
        rfn_text_format(out, " (about every %zuth of %zu points; --json has all)", step, curve->n);
    rfn_text_char(out, '\n');
    rfn_table_init(&table, network ? "rrrr" : "rrr",
                   network ? "times as long\tthat is\trun time\tthen per 1 %"
                           : "times as long\trun time\tthen per 1 %");
    for (size_t i = 0; i < curve->n; i = next_row(curve, i, step)) {
        const struct rfn_curve_point *at = &curve->points[i],
                                     *next = &curve->points[next_row(curve, i, step)];
        rfn_table_row(&table, "%.4g", at->factor);
        if (append_parameter(&value, whatif, at->factor))
            rfn_table_text(&table, &value);
        rfn_table_cell(&table, rfn_time_text(at->run_ns).text);
        rfn_table_cell(&table, i + 1 == curve->n
                                   ? ""
                                   : rfn_time_text((int64_t)((double)(next->run_ns - at->run_ns) /
                                                             (next->factor - at->factor) / 100))
                                         .text);
    }
    rfn_table_print(&table, 2, out);
}

/* ---- single events ---- */

void rfn_event_selector_append(struct rfn_text *text, const struct rfn_event_gain *event)
{
    rfn_text_format(text, "%s:%u/%llu",
                    event->activity.kind == RFN_ACTIVITY_COMPUTE ? "before" : "event", event->rank,
                    (unsigned long long)event->index);
}

/* Of the line below a row: as far as the name of the event. */
enum { NOTE = 6 };

static void append_events(struct rfn_text *out, const struct rfn_whatif *whatif)
{
    struct rfn_table table;
    if (!whatif->by_event)
        return;
    rfn_text_string(out, whatif->events.n
                             ? "\nWhich single event would save most if it took no time?\n"
                             : "\nNo single event alone would save time.\n");
    rfn_table_init(&table, "rrrl", "saved\ttakes\tat\tgone");
    for (size_t i = 0; i < whatif->events.n && i < whatif->top; i++) {
        const struct rfn_event_gain *event = &whatif->events.events[i];
        struct rfn_text name = {0}, what = {0};
        rfn_table_row(&table, "%s\t%s\t%s", rfn_time_text(event->saved_ns).text,
                      rfn_time_text(event->ns).text, rfn_time_text(event->enter_ns).text);
        rfn_event_selector_append(&name, event);
        rfn_table_text(&table, &name);
        rfn_activity_append(&what, whatif->run->archive, &event->activity);
        rfn_table_note(&table, &what);
    }
    rfn_table_print(&table, NOTE, whatif->events.n ? out : NULL);
}

/* ---- the domino path ---- */

static void append_dominoes(struct rfn_text *out, const struct rfn_whatif *whatif)
{
    struct rfn_table table;
    if (!whatif->n_dominoes)
        return;
    rfn_table_init(&table, "rrrl", "step\trun time\twithout longest waits\tgone, too");
    for (size_t i = 0; i < whatif->n_dominoes; i++) {
        const struct rfn_domino *domino = &whatif->dominoes[i];
        struct rfn_text name = {0};
        rfn_table_row(&table, "%zu\t%s\t%s", i + 1, rfn_time_text(domino->run_ns).text,
                      rfn_time_text(domino->waits_ns).text);
        rfn_selector_append(&name, domino->selector);
        rfn_table_text(&table, &name);
    }
    rfn_text_string(out,
                    "\nIn which order should it be mended? The best remedy, then the best after "
                    "it\n");
    rfn_table_print(&table, 2, out);
}

void rfn_whatif_text(struct rfn_text *out, const struct rfn_whatif *whatif)
{
    append_given(out, whatif);
    append_trust(out, whatif);
    append_remedies(out, whatif);
    append_untold(out, whatif);
    append_curve(out, whatif);
    append_events(out, whatif);
    append_dominoes(out, whatif);
}

/* ---- JSON ---- */

static json_t *parameters_json(const struct rfn_whatif *whatif)
{
    const struct rfn_network *network = &whatif->network;
    json_t *value = json_object();
    RFN_JSON_SET(value, "L", rfn_json_seconds(network->latency_ns));
    RFN_JSON_SET(value, "o", rfn_json_seconds(network->overhead_ns));
    RFN_JSON_SET(value, "g", rfn_json_seconds(network->gap_ns));
    RFN_JSON_SET(value, "G", rfn_json_seconds(network->gap_per_byte_ns));
    RFN_JSON_SET(value, "S", network->eager_bytes);
    RFN_JSON_SET(value, "source",
                 whatif->network_file ? "calibrated"
                 : whatif->estimated  ? "estimated"
                                      : "assumed");
    if (whatif->network_file)
        RFN_JSON_SET(value, "file", whatif->network_file);
    RFN_JSON_SET(value, "messages", whatif->estimated);
    return value;
}

static json_t *remedy_json(const struct rfn_whatif *whatif, const struct rfn_remedy *remedy)
{
    json_t *value = json_object();
    struct rfn_text name = {0};
    const bool bounded = remedy->bound_ns < as_given(whatif);
    rfn_selector_append(&name, selector_of(remedy));
    RFN_JSON_SET(value, "selector", rfn_json_of_text(&name));
    RFN_JSON_SET(value, "factor", remedy->assumption.factor);
    RFN_JSON_SET(value, "saved_seconds", rfn_json_seconds((double)remedy->saved_ns));
    RFN_JSON_SET(value, "saved_half_seconds", rfn_json_seconds((double)remedy->saved_half_ns));
    RFN_JSON_SET(
        value, "slope_seconds",
        rfn_json_seconds((double)remedy->saved_first_ns * 100 / (1 - remedy->assumption.factor)));
    RFN_JSON_SET(value, "bound_seconds",
                 rfn_json_seconds((double)(bounded ? remedy->bound_ns : as_given(whatif))));
    return value;
}

static json_t *assumptions_json(const struct rfn_whatif *whatif)
{
    json_t *list = json_array();
    for (size_t i = 0; i < whatif->n_given; i++) {
        json_t *value = json_object();
        struct rfn_text name = {0};
        rfn_selector_append(&name, &whatif->given[i]);
        RFN_JSON_SET(value, "selector", rfn_json_of_text(&name));
        RFN_JSON_SET(value, "factor", whatif->factors[i]);
        if (whatif->caps_ns[i])
            RFN_JSON_SET(value, "cap_seconds", rfn_json_seconds((double)whatif->caps_ns[i]));
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *dominoes_json(const struct rfn_whatif *whatif)
{
    json_t *list = json_array();
    for (size_t i = 0; i < whatif->n_dominoes; i++) {
        const struct rfn_domino *domino = &whatif->dominoes[i];
        json_t *value = json_object();
        struct rfn_text name = {0};
        rfn_selector_append(&name, domino->selector);
        RFN_JSON_SET(value, "selector", rfn_json_of_text(&name));
        RFN_JSON_SET(value, "predicted_seconds", rfn_json_seconds((double)domino->run_ns));
        RFN_JSON_SET(value, "without_longest_waits_seconds",
                     rfn_json_seconds((double)domino->waits_ns));
        json_array_append_new(list, value);
    }
    return list;
}

static json_t *curve_json(const struct rfn_whatif *whatif)
{
    const struct rfn_curve *curve = &whatif->curve;
    json_t *value = json_object(), *list = json_array();
    struct rfn_text name = {0};
    rfn_selector_append(&name, whatif->curve_of);
    for (size_t i = 0; i < curve->n; i++) {
        json_t *point = json_object();
        RFN_JSON_SET(point, "factor", curve->points[i].factor);
        RFN_JSON_SET(point, "predicted_seconds", rfn_json_seconds((double)curve->points[i].run_ns));
        json_array_append_new(list, point);
    }
    RFN_JSON_SET(value, "selector", rfn_json_of_text(&name));
    RFN_JSON_SET(value, "points", list);
    RFN_JSON_SET(value, "tolerated_factor",
                 isinf(curve->tolerated) ? json_null() : json_real(curve->tolerated));
    return value;
}

static json_t *events_json(const struct rfn_whatif *whatif)
{
    json_t *list = json_array();
    for (size_t i = 0; i < whatif->events.n && i < whatif->top; i++) {
        const struct rfn_event_gain *event = &whatif->events.events[i];
        json_t *value = json_object();
        struct rfn_text name = {0}, what = {0};
        rfn_event_selector_append(&name, event);
        rfn_activity_append(&what, whatif->run->archive, &event->activity);
        RFN_JSON_SET(value, "selector", rfn_json_of_text(&name));
        RFN_JSON_SET(value, "rank", event->rank);
        RFN_JSON_SET(value, "index", event->index);
        RFN_JSON_SET(value, "activity", rfn_json_of_text(&what));
        RFN_JSON_SET(value, "saved_seconds", rfn_json_seconds((double)event->saved_ns));
        RFN_JSON_SET(value, "seconds", rfn_json_seconds((double)event->ns));
        RFN_JSON_SET(value, "enter_seconds", rfn_json_seconds((double)event->enter_ns));
        json_array_append_new(list, value);
    }
    return list;
}

json_t *rfn_whatif_json(const struct rfn_whatif *whatif)
{
    const struct rfn_prediction *prediction = &whatif->prediction;
    json_t *value = json_object(), *list = json_array();
    for (size_t i = 0; i < whatif->candidates->n && i < whatif->top; i++) {
        if (whatif->candidates->remedies[i].evaluated)
            json_array_append_new(list, remedy_json(whatif, &whatif->candidates->remedies[i]));
    }
    RFN_JSON_SET(value, "schema", (uint32_t)1);
    RFN_JSON_SET(value, "file", whatif->file);
    rfn_json_missing(value, whatif->run->archive);
    RFN_JSON_SET(value, "recorded_seconds", rfn_json_seconds((double)prediction->recorded_ns));
    RFN_JSON_SET(value, "predicted_seconds", rfn_json_seconds((double)as_given(whatif)));
    RFN_JSON_SET(value, "assumptions", assumptions_json(whatif));
    RFN_JSON_SET(value, "parameters", parameters_json(whatif));
    RFN_JSON_SET(value, "clamped_seconds", rfn_json_seconds((double)prediction->clamped_ns));
    RFN_JSON_SET(value, "overtaken_messages", prediction->overtaken);
    RFN_JSON_SET(value, "remedies", list);
    if (whatif->curve_of)
        RFN_JSON_SET(value, "curve", curve_json(whatif));
    if (whatif->by_event)
        RFN_JSON_SET(value, "events", events_json(whatif));
    RFN_JSON_SET(value, "domino", dominoes_json(whatif));
    return value;
}
