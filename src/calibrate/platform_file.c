#include "calibrate/platform_file.h"

#include "refrain/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENVELOPE_BYTES = 16 };
/* Of each flow so much goes back, against it, in the simulated network. */
static const double CROSS_TRAFFIC = 0.05;
static const double LEAST_NS = 0.001, LEAST_NS_PER_BYTE = 1e-4;
/* Links are made faster, a step at a time, until messages are so close to their pieces; but noise
 * must not make a network of no matter what speed. */
static const double CLOSE = 0.05, STEP = 0.9, MOST_FASTER = 64;

struct nominal {
    double latency_ns, ns_per_byte;
};

/* A piece as the links have it: with the envelope, and no faster than they are. What a piece would
 * be faster by is left out of its latency, for a message of middle size. */
static struct nominal of_piece(const struct cal_piece *piece, double least_ns_per_byte)
{
    const double middle = (double)(piece->from_bytes + piece->to_bytes) / 2;
    const double slope = fmax(piece->ns_per_byte, least_ns_per_byte);
    const double all = piece->latency_ns + middle * piece->ns_per_byte;
    return (struct nominal){fmax(all - (middle + ENVELOPE_BYTES) * slope, LEAST_NS), slope};
}

static double written_ns(struct nominal own, int64_t bytes)
{
    return own.latency_ns + (double)(bytes + ENVELOPE_BYTES) * own.ns_per_byte;
}

/* What calls take of a message whose send does not wait. */
static double calls_ns(const struct cal_network_model *model, int64_t bytes)
{
    return bytes > model->detached_bytes ? 0
                                         : cal_network_model_ns(&model->send, bytes) +
                                               cal_network_model_ns(&model->receive, bytes);
}

/* Whether messages of all sizes take on links of this kind what the pieces say, nearly. */
static bool are_fast_enough(const struct cal_network_model *model, double ns_per_byte)
{
    for (size_t i = 0; i < model->network.n; i++) {
        const struct cal_piece *piece = &model->network.pieces[i];
        const struct nominal own = of_piece(piece, ns_per_byte);
        const int64_t ends[] = {piece->from_bytes, piece->to_bytes};
        for (int end = 0; end < 2; end++) {
            const double fitted = cal_pieces_ns(piece, 1, ends[end]),
                         all = fitted + calls_ns(model, ends[end]);
            if (fabs(written_ns(own, ends[end]) - fitted) > CLOSE * all)
                return false;
        }
    }
    return true;
}

/* The links of the cluster: as slow as large messages are, unless that is too slow for others. The
 * latency of the smallest messages is never a trifle beside what they take, as factors relate to
 * it. */
static struct nominal find_nominal(const struct cal_network_model *model)
{
    const struct cal_pieces *pieces = &model->network;
    double slope = fmax(cal_pieces_ns_per_byte(pieces->pieces, pieces->n), LEAST_NS_PER_BYTE);
    const double least_slope = fmax(slope / MOST_FASTER, LEAST_NS_PER_BYTE);
    while (slope > least_slope && !are_fast_enough(model, slope))
        slope = fmax(slope * STEP, least_slope);
    const struct cal_piece *first = &pieces->pieces[0];
    const double least = cal_pieces_ns(first, 1, first->from_bytes) / 10;
    return (struct nominal){fmax(of_piece(first, slope).latency_ns, fmax(least, LEAST_NS)), slope};
}

/* ---- is it as measured? ---- */

double cal_platform_ns(const struct cal_network_model *model, int64_t bytes)
{
    const struct cal_pieces *pieces = &model->network;
    const double slope = find_nominal(model).ns_per_byte;
    size_t i = 0;
    while (i + 1 < pieces->n && bytes > pieces->pieces[i].to_bytes)
        i++;
    return written_ns(of_piece(&pieces->pieces[i], slope), bytes) + calls_ns(model, bytes);
}

static int by_off(const void *left, const void *right)
{
    const struct cal_misfit *a = left, *b = right;
    return (a->off < b->off) - (a->off > b->off);
}

size_t cal_platform_misfits(const struct cal_network_model *model,
                            const struct cal_messages *messages, struct cal_misfit *misfits)
{
    size_t n = 0;
    for (size_t i = 0; i < messages->n_sizes; i++) {
        const struct cal_span span = cal_samples_span(&messages->halves[i]);
        if (!(span.shortest_ns > 0))
            continue;
        const double written = cal_platform_ns(model, messages->halves[i].bytes);
        const double above = written / span.middle_ns, below = span.shortest_ns / written;
        if (above > 1 + CAL_MOST_OFF || below > 1 / (1 - CAL_MOST_OFF))
            misfits[n++] = (struct cal_misfit){i, above > 1 ? span.middle_ns : span.shortest_ns,
                                               written, fmax(above, below)};
    }
    if (n)
        qsort(misfits, n, sizeof *misfits, by_off);
    return n;
}

/* ---- config ---- */

static void print_factors(const struct cal_pieces *pieces, struct nominal nominal, bool latency,
                          FILE *out)
{
    fprintf(out, "    <prop id=\"smpi/%s-factor\" value=\"", latency ? "lat" : "bw");
    for (size_t i = 0; i < pieces->n; i++) {
        const struct nominal own = of_piece(&pieces->pieces[i], nominal.ns_per_byte);
        const long long above = i ? (long long)pieces->pieces[i - 1].to_bytes + ENVELOPE_BYTES : 0;
        fprintf(out, "%s%lld:%.9g", i ? ";" : "", above,
                latency ? own.latency_ns / nominal.latency_ns
                        : nominal.ns_per_byte / own.ns_per_byte);
    }
    fputs("\"/>\n", out);
}

static void print_costs(const char *name, const struct cal_pieces *pieces, FILE *out)
{
    fprintf(out, "    <prop id=\"smpi/%s\" value=\"", name);
    for (size_t i = 0; i < pieces->n; i++) {
        const struct cal_piece *piece = &pieces->pieces[i];
        const long long above = i ? (long long)pieces->pieces[i - 1].to_bytes : 0;
        fprintf(out, "%s%lld:%.9g:%.9g", i ? ";" : "", above, piece->latency_ns * 1e-9,
                piece->ns_per_byte * 1e-9);
    }
    fputs(pieces->n ? "\"/>\n" : "0:0:0\"/>\n", out);
}

static void print_config(const struct cal_network_model *model, struct nominal nominal, FILE *out)
{
    fputs("  <config>\n    <prop id=\"network/model\" value=\"SMPI\"/>\n", out);
    print_costs("os", &model->send, out);
    print_costs("ois", &model->isend, out);
    print_costs("or", &model->receive, out);
    print_factors(&model->network, nominal, true, out);
    print_factors(&model->network, nominal, false, out);
    fprintf(out, "    <prop id=\"smpi/async-small-thresh\" value=\"%lld\"/>\n",
            (long long)model->eager_bytes + 1);
    fprintf(out, "    <prop id=\"smpi/send-is-detached-thresh\" value=\"%lld\"/>\n",
            (long long)model->detached_bytes + 1);
    fputs("  </config>\n", out);
}

/* ---- cluster ---- */

/* Bytes per second that a host's both directions have together; 0: each has all. The cross traffic
 * of a limiter counts in it. */
static double limiter(const struct cal_network_model *model, struct nominal nominal)
{
    const double most = 2 / nominal.ns_per_byte / (1 + CROSS_TRAFFIC);
    const double limit = model->both_ways;
    return limit > 0 && limit < 0.98 * most ? limit * (1 + CROSS_TRAFFIC) * 1e9 : 0;
}

static void print_cluster(const struct cal_network_model *model, const struct cal_cluster *cluster,
                          struct nominal nominal, FILE *out)
{
    const double limit = limiter(model, nominal), bandwidth = 1e9 / nominal.ns_per_byte;
    fprintf(out,
            "  <cluster id=\"cluster\" prefix=\"node-\" suffix=\"\" radical=\"0-%u\" "
            "speed=\"%.9gf\" core=\"%u\"\n           bw=\"%.9gBps\" lat=\"%.9gs\"",
            cluster->hosts - 1, cluster->speed, cluster->cores, bandwidth,
            nominal.latency_ns * 1e-9 / 2);
    if (limit > 0)
        fprintf(out, "\n           limiter_link=\"%.9gBps\"", limit);
    if (cluster->on_one_node)
        fprintf(out, "\n           loopback_bw=\"%.9gBps\" loopback_lat=\"%.9gs\"", bandwidth,
                nominal.latency_ns * 1e-9);
    fputs("/>\n", out);
}

int cal_platform_write(const struct cal_network_model *model, const struct cal_cluster *cluster,
                       FILE *out)
{
    const struct nominal nominal = find_nominal(model);
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n",
          out);
    print_config(model, nominal, out);
    print_cluster(model, cluster, nominal, out);
    fputs("</platform>\n", out);
    return fflush(out) || ferror(out) ? RFN_E_IO : 0;
}
