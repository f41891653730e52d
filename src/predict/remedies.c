/* remedies.c - which assumption saves most: candidates by their bounds, many at once. */
#include "refrain/predict.h"

#include <stdlib.h>

/* In one pass: `given`, and of each remedy the whole, the half and the first of it. */
enum { AT_ONCE = 21, EACH = 3, LANES = 1 + EACH * AT_ONCE };

struct ranking {
    const struct rfn_archive *archive;
    const struct rfn_network *network;
    const struct rfn_lane *given;
    struct rfn_assumption *assumptions; /* LANES lists of given->n + 1 */
    struct rfn_lane lanes[LANES];
    void (*progress)(void *context, double share);
    void *context;
    size_t done, n; /* remedies */
};

static int by_bound(const void *left, const void *right)
{
    const struct rfn_remedy *a = left, *b = right;
    return a->bound_ns > b->bound_ns ? -1 : a->bound_ns < b->bound_ns;
}

static int by_gain(const void *left, const void *right)
{
    const struct rfn_remedy *a = left, *b = right;
    if (a->evaluated != b->evaluated)
        return a->evaluated ? -1 : 1;
    if (a->saved_ns != b->saved_ns)
        return a->saved_ns > b->saved_ns ? -1 : 1;
    return by_bound(left, right);
}

static void progress(void *context, double share)
{
    const struct ranking *ranking = context;
    const double passes = ((double)ranking->n + AT_ONCE - 1) / AT_ONCE;
    if (ranking->progress)
        ranking->progress(ranking->context,
                          ((double)ranking->done / AT_ONCE + share) / (passes > 1 ? passes : 1));
}

static void set_lane(struct ranking *ranking, size_t lane, const struct rfn_assumption *assumption,
                     double factor)
{
    const size_t n = ranking->given->n;
    struct rfn_assumption *list = ranking->assumptions + lane * (n + 1);
    for (size_t i = 0; i < n; i++)
        list[i] = ranking->given->assumptions[i];
    ranking->lanes[lane] = (struct rfn_lane){list, n + (assumption != NULL)};
    if (!assumption)
        return;
    list[n] = *assumption;
    list[n].factor = factor;
}

/* Some remedies, in one pass. */
static int evaluate(struct ranking *ranking, struct rfn_remedy *remedies, size_t n,
                    struct rfn_prediction *prediction, struct rfn_diag *diag)
{
    set_lane(ranking, 0, NULL, 1);
    for (size_t i = 0; i < n; i++) {
        const struct rfn_assumption *assumption = &remedies[i].assumption;
        set_lane(ranking, 1 + EACH * i, assumption, assumption->factor);
        set_lane(ranking, 2 + EACH * i, assumption, (1 + assumption->factor) / 2);
        set_lane(ranking, 3 + EACH * i, assumption, 1 - (1 - assumption->factor) / 100);
    }
    rfn_prediction_release(prediction);
    const struct rfn_predict_options options = {.network = ranking->network,
                                                .lanes = ranking->lanes,
                                                .n = 1 + EACH * n,
                                                .progress = progress,
                                                .context = ranking};
    RFN_TRY(rfn_predict(ranking->archive, &options, prediction, diag));
    for (size_t i = 0; i < n; i++) {
        const int64_t *ns = prediction->predicted_ns, *of = ns + 1 + EACH * i;
        remedies[i].evaluated = true;
        remedies[i].saved_ns = ns[0] - of[0];
        remedies[i].saved_half_ns = ns[0] - of[1];
        remedies[i].saved_first_ns = ns[0] - of[2];
    }
    ranking->done += n;
    return 0;
}

/* What the last of the `best` ones saves so far; -1: there are fewer. Of none nothing more is
 * asked. */
static int64_t least_of_best(struct rfn_remedy *remedies, size_t n, size_t best)
{
    qsort(remedies, n, sizeof *remedies, by_gain);
    if (!best)
        return INT64_MAX;
    return n < best ? -1 : remedies[best - 1].saved_ns;
}

static int rank(struct ranking *ranking, struct rfn_remedy *remedies, size_t n, size_t best,
                struct rfn_prediction *prediction, struct rfn_diag *diag)
{
    size_t done = 0;
    qsort(remedies, n, sizeof *remedies, by_bound);
    do {
        const size_t part = n - done < AT_ONCE ? n - done : AT_ONCE;
        RFN_TRY(evaluate(ranking, remedies + done, part, prediction, diag));
        done += part;
    } while (done < n && remedies[done].bound_ns > least_of_best(remedies, done, best));
    qsort(remedies, n, sizeof *remedies, by_gain);
    return 0;
}

int rfn_remedies_rank(const struct rfn_archive *archive, const struct rfn_network *network,
                      const struct rfn_lane *given, struct rfn_remedy *remedies, size_t n,
                      size_t best, void (*progress_)(void *context, double share), void *context,
                      struct rfn_prediction *prediction, struct rfn_diag *diag)
{
    struct ranking ranking = {.archive = archive,
                              .network = network,
                              .given = given,
                              .progress = progress_,
                              .context = context,
                              .n = n};
    *prediction = (struct rfn_prediction){0};
    ranking.assumptions = calloc(LANES * (given->n + 1), sizeof *ranking.assumptions);
    if (!ranking.assumptions)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
    int error = rank(&ranking, remedies, n, best, prediction, diag);
    free(ranking.assumptions);
    return error;
}
