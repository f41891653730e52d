/* mpi_model.h - what MPI costs on a machine: SMPI's model of messages, by its parameters.
 *
 * A message of n bytes takes n + 16 through the network, its envelope included. Factors of the
 * links' bandwidth and latency, and the time that a process needs to send or receive, depend on the
 * size by pieces: a piece holds for sizes above its threshold.
 *
 * A send below `detached` bytes is over for the sender when it paid for it; the receiver pays, too.
 * A send below `eager` bytes sets off at once, all others when the receive has begun.
 *
 * Source: SimGrid 3.32, "Simulating MPI applications", and its behaviour
 * (tests/test_predict_engine.py).
 */
#ifndef RFN_SIMULATE_MPI_MODEL_H
#define RFN_SIMULATE_MPI_MODEL_H

#include "refrain/platform.h"
#include "refrain/simulate.h"

enum { RFN_ENVELOPE_BYTES = 16, RFN_PIECES = 32 };

/* For sizes above `above`: a + b * size. Factors have no b. */
struct rfn_piece {
    double above, a, b;
};

/* In ascending order. */
struct rfn_pieces {
    struct rfn_piece piece[RFN_PIECES];
    uint32_t n;
};

struct rfn_mpi_model {
    struct rfn_pieces latency, bandwidth; /* factors, by the size with its envelope */
    struct rfn_pieces send, isend, recv;  /* seconds */
    int64_t eager, detached;              /* bytes */
    double gamma;                         /* largest window of TCP, bytes */
    double weight;                        /* bytes; weight-S */
    double cross_traffic;                 /* share of a flow that goes back */
    double test, probe;                   /* seconds between two looks */
    bool patient;                         /* each failed look makes the next one later */
    double precision;                     /* seconds; no sleep is shorter */
    const char *collectives;              /* smpi/coll-selector */
};

/* From the settings, else from the platform's <config> (platform may be NULL), else SimGrid's
 * defaults. used: NULL, or gets where each value is from, as many as rfn_mpi_settings(). Texts are
 * the settings' and the platform's. RFN_E_CORRUPT: not a number, or not such pieces;
 * RFN_E_NOTFOUND: a setting that the model does not have; RFN_E_UNSUPPORTED: a property of <config>
 * that nothing knows, or another model of the network. */
int rfn_mpi_model_init(struct rfn_mpi_model *model, const struct rfn_platform *platform,
                       const struct rfn_setting *settings, size_t n, struct rfn_setting *used,
                       struct rfn_diag *diag);
size_t rfn_mpi_settings(void);

/* Costs and thresholds become so many times as large. */
void rfn_mpi_model_scale(struct rfn_mpi_model *model, const struct rfn_scaled_network *scaled);

/* Up to the first piece the links are as they are. */
static inline double rfn_factor_at(const struct rfn_pieces *pieces, double size)
{
    double factor = 1;
    for (uint32_t i = 0; i < pieces->n && size > pieces->piece[i].above; i++)
        factor = pieces->piece[i].a;
    return factor;
}

/* Seconds; up to the second piece the first one holds. */
static inline double rfn_cost_at(const struct rfn_pieces *pieces, double size)
{
    const struct rfn_piece *piece = pieces->piece;
    while (piece + 1 < pieces->piece + pieces->n && size > piece[1].above)
        piece++;
    return piece->a + piece->b * size;
}

#endif
