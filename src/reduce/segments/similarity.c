#include "reduce/segments/similarity.h"

#include "base/c_numbers.h"
#include "refrain/recording.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rfn_similarity *const methods[] = {
    &rfn_rel_diff, &rfn_abs_diff,  &rfn_manhattan, &rfn_euclidean, &rfn_chebyshev,
    &rfn_avg_wave, &rfn_haar_wave, &rfn_iter_k,    &rfn_iter_avg,  &rfn_jitter};

const struct rfn_similarity rfn_one_of_class = {
    .name = "one", .unit = "", .within = -1, .across = 0, .all_alike = true};

enum { N_METHODS = sizeof methods / sizeof *methods };

const struct rfn_similarity *rfn_similarity_method(size_t i)
{
    return i < N_METHODS ? methods[i] : NULL;
}

/* ---- METHOD:THRESHOLD ---- */

static int unknown(const char *text, struct rfn_diag *diag)
{
    char names[256] = "";
    int used = 0;
    for (size_t i = 0; i < N_METHODS && used < (int)sizeof names; i++)
        used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", i ? ", " : "",
                         methods[i]->name);
    return rfn_fail(diag, RFN_E_USAGE, -1, -1, "no similarity method '%s'; there are %s", text,
                    names);
}

/* ":average" or ":centroid", or nothing. */
static bool parse_later(const char *text, struct rfn_criterion *criterion)
{
    if (strcmp(text, ":average") == 0)
        criterion->later = RFN_LATER_AVERAGE;
    else if (strcmp(text, ":centroid") == 0)
        criterion->later = RFN_LATER_CENTROID;
    else
        return *text == 0;
    return criterion->method == &rfn_iter_k;
}

/* `text` follows the colon. */
static bool parse_threshold(const char *text, struct rfn_criterion *criterion)
{
    /* strtod takes spaces, signs, "nan", hexadecimal numbers, too. */
    char *end;
    size_t digits = strspn(text, "0123456789.eE+-");
    if (!*text || !strchr("0123456789.", *text) || (text[digits] && text[digits] != ':') ||
        digits >= RFN_CRITERION_TEXT || criterion->method->averages)
        return false;
    criterion->threshold = rfn_c_double(text, &end);
    if (end != text + digits || criterion->threshold > DBL_MAX)
        return false;
    double threshold = criterion->threshold;
    bool whole = threshold >= 1 && threshold <= UINT32_MAX &&
                 threshold == (double)(uint32_t)threshold;
    return (!criterion->method->kept || whole) && parse_later(text + digits, criterion);
}

int rfn_criterion_parse(const char *text, bool across, struct rfn_criterion *criterion,
                        struct rfn_diag *diag)
{
    size_t length = strcspn(text, ":");
    size_t i = 0;
    while (i < N_METHODS &&
           (strlen(methods[i]->name) != length || memcmp(methods[i]->name, text, length) != 0))
        i++;
    if (i == N_METHODS)
        return unknown(text, diag);
    const struct rfn_similarity *method = methods[i];
    if (across && method->across < 0)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1, "%s does not compare processes", method->name);
    *criterion = (struct rfn_criterion){.method = method,
                                        .threshold = across ? method->across : method->within,
                                        .more = (double)method->more_ns};
    if (!text[length] || parse_threshold(text + length + 1, criterion))
        return 0;
    return rfn_fail(diag, RFN_E_USAGE, -1, -1, "'%s' is not a threshold of %s%s", text + length + 1,
                    method->name,
                    method->averages ? ", which has none"
                    : method->kept
                        ? ": a whole number from 1 on, then perhaps :average or :centroid"
                        : ": a number from 0 on");
}

int rfn_across_parse(const char *text, struct rfn_criterion *criterion, struct rfn_diag *diag)
{
    if (strcmp(text, rfn_one_of_class.name) != 0)
        return rfn_criterion_parse(text, true, criterion, diag);
    *criterion = (struct rfn_criterion){.method = &rfn_one_of_class};
    return 0;
}

int rfn_similarity_check(const char *text, struct rfn_diag *diag)
{
    struct rfn_criterion criterion;
    return rfn_criterion_parse(text, false, &criterion, diag);
}

int rfn_across_text(const char *given, const char *similar, char text[RFN_ACROSS_TEXT],
                    struct rfn_diag *diag)
{
    _Static_assert((int)RFN_ACROSS_TEXT == (int)RFN_CRITERION_TEXT, "one text is shorter");
    char whole[4 * RFN_ACROSS_TEXT];
    struct rfn_criterion criterion;
    text[0] = 0;
    if (strcmp(given, "all") == 0)
        return 0;
    if ((given[0] | 0x20) >= 'a' && (given[0] | 0x20) <= 'z')
        snprintf(whole, sizeof whole, "%s", given);
    else
        snprintf(whole, sizeof whole, "%.*s%s%s", (int)strcspn(similar, ":"), similar,
                 given[0] ? ":" : "", given);
    RFN_TRY(rfn_across_parse(whole, &criterion, diag));
    rfn_criterion_text(&criterion, text);
    return 0;
}

void rfn_criterion_text(const struct rfn_criterion *criterion, char text[RFN_CRITERION_TEXT])
{
    static const char *const later[] = {[RFN_LATER_LAST] = "",
                                        [RFN_LATER_AVERAGE] = ":average",
                                        [RFN_LATER_CENTROID] = ":centroid"};
    const struct rfn_similarity *method = criterion->method;
    if (method->averages || method->all_alike)
        snprintf(text, RFN_CRITERION_TEXT, "%s", method->name);
    else
        rfn_c_print(text, RFN_CRITERION_TEXT, "%s:%.12g%s", method->name, criterion->threshold,
                    later[criterion->later]);
}

/* ---- applying a method ---- */

size_t rfn_similarity_length(const struct rfn_similarity *method, size_t n)
{
    return method->transformed ? method->transformed(n) : n;
}

double rfn_similarity_transform(const struct rfn_similarity *method, const int64_t *vector,
                                size_t n, double *elements)
{
    size_t length = rfn_similarity_length(method, n);
    for (size_t i = 0; i < n; i++)
        elements[i] = (double)vector[i];
    for (size_t i = n; i < length; i++)
        elements[i] = 0;
    if (method->transform)
        method->transform(elements, length);
    /* Of even and of odd elements, so that comparisons overlap. */
    double even = length ? elements[0] : 0, odd = even;
    size_t i = 0;
    for (; i + 1 < length; i += 2) {
        even = rfn_larger(even, elements[i]);
        odd = rfn_larger(odd, elements[i + 1]);
    }
    return rfn_larger(i < length ? rfn_larger(even, elements[i]) : even, odd);
}

double rfn_similarity_distance(const struct rfn_similarity *method, const double *a,
                               const double *b, size_t length)
{
    double distance = 0;
    for (size_t i = 0; i < length; i++) {
        double difference = method->difference(a[i], b[i]);
        distance = method->added ? distance + difference : rfn_larger(distance, difference);
    }
    return distance;
}

bool rfn_similar(const struct rfn_criterion *criterion, const struct rfn_wave *a,
                 const struct rfn_wave *b, size_t length)
{
    const struct rfn_similarity *method = criterion->method;
    double largest = rfn_larger(a->largest, b->largest);
    return method->near(a->elements, b->elements, length,
                        rfn_criterion_allowed(criterion, largest));
}
