#include "simulate/mpi_model.h"

#include "base/c_numbers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { FACTORS, COSTS, BYTES, NUMBER, YES, TEXT };

/* A parameter: where it is in the model, and SimGrid's value (3.32, as smpirun sets it). */
struct parameter {
    const char *name, *old_name; /* old_name: NULL, or what earlier versions call it */
    enum kind kind;
    size_t at;
    const char *value;
};

#define AT(member) offsetof(struct rfn_mpi_model, member)

static const struct parameter parameters[] = {
    {"smpi/bw-factor", "network/bandwidth-factor", FACTORS, AT(bandwidth),
     "65472:0.940694;15424:0.697866;9376:0.58729;5776:1.08739;3484:0.77493;1426:0.608902;"
     "732:0.341987;257:0.338112;0:0.812084"},
    {"smpi/lat-factor", "network/latency-factor", FACTORS, AT(latency),
     "65472:11.6436;15424:3.48845;9376:2.59299;5776:2.18796;3484:1.88101;1426:1.61075;"
     "732:1.9503;257:1.95341;0:2.01467"},
    {"smpi/os", NULL, COSTS, AT(send), "0:0:0:0:0"},
    {"smpi/ois", NULL, COSTS, AT(isend), "0:0:0:0:0"},
    {"smpi/or", NULL, COSTS, AT(recv), "0:0:0:0:0"},
    {"smpi/async-small-thresh", NULL, BYTES, AT(eager), "0"},
    {"smpi/send-is-detached-thresh", NULL, BYTES, AT(detached), "65536"},
    {"network/TCP-gamma", NULL, NUMBER, AT(gamma), "4194304"},
    {"network/weight-S", NULL, NUMBER, AT(weight), "8775"},
    {"network/crosstraffic", NULL, YES, AT(cross_traffic), "yes"},
    {"smpi/test", NULL, NUMBER, AT(test), "1e-4"},
    {"smpi/iprobe", NULL, NUMBER, AT(probe), "1e-4"},
    {"smpi/grow-injected-times", NULL, YES, AT(patient), "yes"},
    {"surf/precision", "precision/timing", NUMBER, AT(precision), "1e-9"},
    {"smpi/coll-selector", NULL, TEXT, AT(collectives), "default"},
};

enum { N_PARAMETERS = sizeof parameters / sizeof parameters[0] };

size_t rfn_mpi_settings(void)
{
    return N_PARAMETERS;
}

/* ---- values ---- */

/* Numbers behind colons: how many, at most 8 of them are stored; 0: that is none. */
static size_t read_numbers(const char **text, double *numbers)
{
    size_t n = 0;
    for (;; (*text)++) {
        char *end;
        const double number = rfn_c_double(*text, &end);
        if (end == *text || !isfinite(number) || n == 8)
            return 0;
        numbers[n++] = number;
        *text = end;
        if (*end != ':')
            return n;
    }
}

static int by_threshold(const void *a, const void *b)
{
    const struct rfn_piece *x = a, *y = b;
    return (x->above > y->above) - (x->above < y->above);
}

/* THRESHOLD:FACTOR;..., or one factor for all sizes; THRESHOLD:STARTUP[:PER_BYTE];... */
static bool read_pieces(const char *text, bool factors, struct rfn_pieces *pieces)
{
    double numbers[8];
    for (pieces->n = 0;; text++) {
        const size_t n = read_numbers(&text, numbers);
        if (!n || pieces->n == RFN_PIECES || (n == 1 && (!factors || pieces->n || *text)))
            return false;
        struct rfn_piece piece = {numbers[0], n > 1 ? numbers[1] : 0, n > 2 ? numbers[2] : 0};
        if (n == 1)
            piece = (struct rfn_piece){-1, numbers[0], 0};
        if (piece.a < 0 || piece.b < 0 || (factors && (piece.b > 0 || piece.a <= 0)))
            return false;
        pieces->piece[pieces->n++] = piece;
        if (*text != ';' || !text[1])
            break;
    }
    qsort(pieces->piece, pieces->n, sizeof pieces->piece[0], by_threshold);
    return !*text || *text == ';';
}

static bool read_number(const char *text, double *number)
{
    char *end;
    *number = rfn_c_double(text, &end);
    return end != text && !*end && isfinite(*number) && *number >= 0;
}

static bool read_bytes(const char *text, int64_t *bytes)
{
    char *end;
    errno = 0;
    *bytes = strtoll(text, &end, 10);
    return !errno && end != text && !*end && *bytes >= 0;
}

static bool read_yes(const char *text, bool *yes)
{
    static const char *const words[] = {"no", "yes", "off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *yes = i % 2;
            return true;
        }
    }
    return false;
}

static bool read_value(const struct parameter *parameter, const char *text,
                       struct rfn_mpi_model *model)
{
    void *at = (char *)model + parameter->at;
    bool yes = false;
    switch (parameter->kind) {
    case FACTORS:
    case COSTS:
        return read_pieces(text, parameter->kind == FACTORS, at);
    case BYTES:
        return read_bytes(text, at);
    case NUMBER:
        return read_number(text, at);
    case YES:
        if (!read_yes(text, &yes))
            return false;
        if (parameter->at == AT(cross_traffic))
            model->cross_traffic = yes ? 0.05 : 0;
        else
            model->patient = yes;
        return true;
    case TEXT:
        model->collectives = text;
        return true;
    }
    return false;
}

/* ---- the model ---- */

static bool is_named(const struct parameter *parameter, const char *name)
{
    return strcmp(name, parameter->name) == 0 ||
           (parameter->old_name && strcmp(name, parameter->old_name) == 0);
}

static int check_names(const struct rfn_setting *settings, size_t n, struct rfn_diag *diag)
{
    for (size_t i = 0; i < n; i++) {
        bool known = false;
        for (size_t k = 0; k < N_PARAMETERS; k++)
            known |= is_named(&parameters[k], settings[i].name);
        if (!known)
            return rfn_fail(diag, RFN_E_NOTFOUND, -1, -1,
                            "the model has no parameter '%s'; refrain-predict(1) lists them",
                            settings[i].name);
    }
    return 0;
}

/* What <config> may have beside the parameters: what the platform itself reads, and what concerns
 * the running of programs alone. */
static const char *const others[] = {
    "network/model",
    "network/loopback-bw",
    "network/loopback-lat",
    "network/optim",
    "cpu/model",
    "cpu/optim",
    "host/model",
    "smpi/host-speed",
    "smpi/cpu-threshold",
    "smpi/simulate-computation",
    "smpi/display-timing",
    "smpi/privatization",
    "smpi/keep-temps",
    "smpi/tmpdir",
    "smpi/init",
    "smpi/wtime",
    "smpi/shared-malloc",
};

enum { N_OTHERS = sizeof others / sizeof others[0] };

static int check_platform(const struct rfn_platform *platform, struct rfn_diag *diag)
{
    const char *known[2 * N_PARAMETERS + N_OTHERS + 1];
    const char *network = rfn_platform_config(platform, "network/model");
    size_t n = 0;
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        known[n++] = parameters[i].name;
        if (parameters[i].old_name)
            known[n++] = parameters[i].old_name;
    }
    for (size_t i = 0; i < N_OTHERS; i++)
        known[n++] = others[i];
    known[n] = NULL;
    if (network && strcmp(network, "SMPI") != 0)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the platform's network/model is '%s'; only SMPI is known", network);
    return rfn_platform_config_check(platform, known, diag);
}

static struct rfn_setting find(const struct parameter *parameter,
                               const struct rfn_platform *platform,
                               const struct rfn_setting *settings, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        if (is_named(parameter, settings[i].name))
            return (struct rfn_setting){parameter->name, settings[i].value, RFN_FROM_CALLER};
    }
    const char *value = platform ? rfn_platform_config(platform, parameter->name) : NULL;
    if (!value && platform && parameter->old_name)
        value = rfn_platform_config(platform, parameter->old_name);
    if (value)
        return (struct rfn_setting){parameter->name, value, RFN_FROM_PLATFORM};
    return (struct rfn_setting){parameter->name, parameter->value, RFN_FROM_DEFAULT};
}

int rfn_mpi_model_init(struct rfn_mpi_model *model, const struct rfn_platform *platform,
                       const struct rfn_setting *settings, size_t n, struct rfn_setting *used,
                       struct rfn_diag *diag)
{
    *model = (struct rfn_mpi_model){0};
    RFN_TRY(check_names(settings, n, diag));
    if (platform)
        RFN_TRY(check_platform(platform, diag));
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        const struct rfn_setting setting = find(&parameters[i], platform, settings, n);
        if (!read_value(&parameters[i], setting.value, model))
            return rfn_fail(
                diag, RFN_E_CORRUPT, -1, -1, "%s%s: '%s' is not a value for it", setting.name,
                setting.from == RFN_FROM_PLATFORM ? " of the platform" : "", setting.value);
        if (used)
            used[i] = setting;
    }
    return 0;
}

static void scale_pieces(struct rfn_pieces *pieces, double factor)
{
    for (uint32_t i = 0; i < pieces->n; i++) {
        pieces->piece[i].a *= factor;
        pieces->piece[i].b *= factor;
    }
}

static int64_t scaled_bytes(int64_t bytes, double factor)
{
    const double scaled = factor * (double)bytes;
    return scaled < (double)INT64_MAX ? (int64_t)scaled : INT64_MAX;
}

void rfn_mpi_model_scale(struct rfn_mpi_model *model, const struct rfn_scaled_network *scaled)
{
    scale_pieces(&model->send, scaled->overhead);
    scale_pieces(&model->isend, scaled->overhead);
    scale_pieces(&model->recv, scaled->overhead);
    model->eager = scaled_bytes(model->eager, scaled->eager);
    model->detached = scaled_bytes(model->detached, scaled->eager);
}
