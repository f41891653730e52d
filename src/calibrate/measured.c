#include "calibrate/measured.h"

#include "refrain/text.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

void cal_measured_fit(struct cal_measured *measured, struct cal_point *points, size_t n,
                      const struct cal_shortest *shortest, int64_t eager_bytes)
{
    struct rfn_network *network = &measured->network;
    n = cal_points_undisturbed(points, n);
    measured->n_pieces = cal_pieces_fit(points, n, measured->pieces);
    const double byte_ns = cal_pieces_ns(measured->pieces, measured->n_pieces, 1);
    const double gap_ns = (shortest->long_train - shortest->short_train) /
                          (shortest->long_messages - shortest->short_messages);
    network->overhead_ns = fmin((shortest->send + shortest->receive) / 2, byte_ns / 3);
    network->latency_ns = byte_ns - 2 * network->overhead_ns;
    network->gap_ns = fmax(gap_ns, network->overhead_ns);
    network->gap_per_byte_ns = cal_pieces_ns_per_byte(measured->pieces, measured->n_pieces);
    network->eager_bytes = eager_bytes;
}

/* ---- JSON ---- */

enum { SCHEMA = 1 };

static json_t *text_json(const char *text)
{
    struct rfn_text valid = {0};
    rfn_text_utf8(&valid, text);
    json_t *value = valid.failed ? NULL : json_stringn(valid.data ? valid.data : "", valid.n);
    rfn_text_release(&valid);
    return value;
}

/* NULL: out of memory. */
static json_t *pieces_json(const struct cal_measured *measured)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < measured->n_pieces; i++) {
        const struct cal_piece *piece = &measured->pieces[i];
        json_t *value = json_pack(
            "{s:I, s:I, s:f, s:f}", "from_bytes", (json_int_t)piece->from_bytes, "to_bytes",
            (json_int_t)piece->to_bytes, "latency_seconds", piece->latency_ns * 1e-9,
            "seconds_per_byte", piece->ns_per_byte * 1e-9);
        if (json_array_append_new(list, value) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

int cal_measured_write(const struct cal_measured *measured, FILE *out)
{
    const struct rfn_network *network = &measured->network;
    json_t *value = json_pack(
        "{s:i, s:o, s:s, s:[o, o], s:[i, i], s:f, s:f, s:f, s:f, s:I, s:o}", "schema", SCHEMA,
        "mpi", text_json(measured->mpi), "flavour", measured->flavour, "hosts",
        text_json(measured->hosts[0]), text_json(measured->hosts[1]), "ranks", measured->ranks[0],
        measured->ranks[1], "L", network->latency_ns * 1e-9, "o", network->overhead_ns * 1e-9, "g",
        network->gap_ns * 1e-9, "G", network->gap_per_byte_ns * 1e-9, "S",
        (json_int_t)network->eager_bytes, "pieces", pieces_json(measured));
    if (!value)
        return RFN_E_NOMEM;
    int error = json_dumpf(value, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(value);
    if (error && !ferror(out))
        return RFN_E_NOMEM;
    return error || fputc('\n', out) == EOF || fflush(out) ? RFN_E_IO : 0;
}

/* ---- text ---- */

/* Of times below a microsecond parts of nanoseconds count. */
static struct rfn_quantity time_text(double ns)
{
    struct rfn_quantity quantity;
    if (ns >= 999.5)
        return rfn_time_text((int64_t)(ns + 0.5));
    snprintf(quantity.text, sizeof quantity.text, "%.3g ns", ns);
    return quantity;
}

static void print_name(const char *name, FILE *out)
{
    struct rfn_text printable = {0};
    rfn_text_printable(&printable, name);
    fputs(rfn_text_terminated(&printable), out);
    rfn_text_release(&printable);
}

static void print_places(const struct cal_measured *measured, FILE *out)
{
    const bool together = strcmp(measured->hosts[0], measured->hosts[1]) == 0;
    print_name(measured->mpi, out);
    fprintf(out, ", ranks %d and %d on ", measured->ranks[0], measured->ranks[1]);
    print_name(measured->hosts[0], out);
    if (!together) {
        fputs(" and ", out);
        print_name(measured->hosts[1], out);
    }
    fputs(together ? ", one node" : ", two nodes", out);
    fputs(measured->ranks[1] > 1 ? "; the ranks between were idle\n" : "\n", out);
}

void cal_measured_print(const struct cal_measured *measured, FILE *out)
{
    const struct rfn_network *network = &measured->network;
    print_places(measured, out);
    fprintf(out, "L %s, o %s, g %s, G %.3g ns per byte, S %lld bytes\n",
            time_text(network->latency_ns).text, time_text(network->overhead_ns).text,
            time_text(network->gap_ns).text, network->gap_per_byte_ns,
            (long long)network->eager_bytes);
    for (size_t i = 0; i < measured->n_pieces; i++) {
        const struct cal_piece *piece = &measured->pieces[i];
        fprintf(out, "  up to %-9s %s + %.3g ns per byte\n",
                rfn_bytes_text((uint64_t)piece->to_bytes).text, time_text(piece->latency_ns).text,
                piece->ns_per_byte);
    }
}
