/* clusters.h - ranks that behave alike (Bahmani and Mueller; doc/clustering.md).
 *
 * Ranks that make the same calls in the same order, however often, are a main cluster. Ranks of it
 * whose parameters are equal too (peers relative to the rank, counts within 5 %, datatypes,
 * operations, communicators) are a sub-cluster. The lowest rank stands for a cluster. Where a
 * parameter differs from rank to rank, an expression in the rank may give all its values.
 */
#ifndef REFRAIN_CLUSTERS_H
#define REFRAIN_CLUSTERS_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"
#include "refrain/expression.h"

/* ---- ranks ---- */

enum { RFN_RANK_DIMENSIONS = 3 };

struct rfn_rank_block {
    uint32_t start, n_dimensions; /* 0: only the start */
    struct {
        uint32_t count, stride;        /* count at least 2, stride at least 1 */
    } dimensions[RFN_RANK_DIMENSIONS]; /* outermost first */
};

/* ---- expressions ---- */

/* In the order in which they are tried; r is the rank, n the number of ranks of the communicator:
 *
 *   CONSTANT   offset
 *   OFFSET     r + offset
 *   SHIFTED    the rank at the coordinates of r on a grid of n ranks, each moved by a
 *              shift: round the grid (wrapped), but MPI_PROC_NULL (RFN_PROC_NULL) where that leaves
 *              the grid in a dimension that is open. One to three dimensions, the last varies
 *              fastest. In one dimension, wrapped, that is (r + shift) mod n. A grid that is open
 *              in some of the dimensions in which it is shifted, and wrapped in others, is tried
 *              last.
 *   XOR        r xor offset
 *   PERMUTED   r's digits in the mixed radix of a grid, in another order: transposition
 *   AFFINE     offset + sum of factor * coordinate on a grid of n ranks: colour and key of a split
 *   FORMULA    the value of a formula (refrain/expression.h); users wrote it
 */
enum rfn_expression_form {
    RFN_EXPRESSION_NONE, /* a table */
    RFN_EXPRESSION_CONSTANT,
    RFN_EXPRESSION_OFFSET,
    RFN_EXPRESSION_SHIFTED,
    RFN_EXPRESSION_XOR,
    RFN_EXPRESSION_PERMUTED,
    RFN_EXPRESSION_AFFINE,
    RFN_EXPRESSION_FORMULA
};

enum { RFN_EXPRESSION_DIMENSIONS = 3 };

struct rfn_rank_expression {
    enum rfn_expression_form form;
    int64_t offset;
    uint32_t n_dimensions;
    uint32_t dimensions[RFN_EXPRESSION_DIMENSIONS]; /* of the grid */
    int64_t factors[RFN_EXPRESSION_DIMENSIONS];     /* shifts, or factors of the coordinates */
    uint32_t order[RFN_EXPRESSION_DIMENSIONS]; /* PERMUTED: digit order[i] of r is digit i of it */
    uint32_t open; /* SHIFTED: bit i: dimension i, in which it is shifted, does not wrap round */
    const char *formula; /* FORMULA: no zero byte ends it; borrowed from where the expression came
                            from */
    uint32_t formula_size;
    bool coded; /* FORMULA: the value is zigzag coded (in archives, where numbers of structures are)
                 */
};

/* ---- clusters ---- */

/* How sequences of calls are compared (doc/clustering.md, Call-path signature). */
enum rfn_path_form { RFN_PATHS_ELASTIC, RFN_PATHS_STRICT, RFN_PATHS_XOR };

/* How parameters of ranks with the same sequence are compared:
 *
 *   FIELDS      one by one; of lists, and of too many values, the least and the most
 *   PAPER       by the signature of 64 bits of Bahmani and Mueller (Table 1), to compare with
 *   REFERENCE   all of them, call by call, from all events (3.4): whether anything is lost */
enum rfn_parameter_form { RFN_PARAMETERS_FIELDS, RFN_PARAMETERS_PAPER, RFN_PARAMETERS_REFERENCE };

struct rfn_cluster_form {
    enum rfn_path_form paths;
    enum rfn_parameter_form parameters;
};

enum rfn_cluster_role {
    RFN_ROLE_CALL,  /* no parameter: that there is such a call */
    RFN_ROLE_PEER,  /* partner of a message */
    RFN_ROLE_RANGE, /* how far peers lie, least and most: there are too many */
    RFN_ROLE_ROOT,
    RFN_ROLE_COUNT, /* numbers of elements or bytes: least and most */
    RFN_ROLE_EXACT, /* datatypes, operations */
    RFN_ROLE_COMM,
    RFN_ROLE_PLACE,    /* colour, key, displacement */
    RFN_ROLE_SIGNATURE /* no parameter: all of them, unless they are FIELDS */
};

/* Which number of it. */
enum rfn_cluster_part {
    RFN_PART_VALUE,
    RFN_PART_SIZE, /* of the communicator */
    RFN_PART_COMM, /* its number in the order of the rank's communicators */
    RFN_PART_LEAST,
    RFN_PART_MOST
};

struct rfn_clustering;

struct rfn_main_cluster {
    uint64_t signature;
    const struct rfn_rank_block *blocks; /* its ranks */
    uint32_t n_blocks;
    uint32_t ranks, representative;
    uint64_t calls_least, calls_most; /* of one rank */
    const uint32_t *paths;            /* call paths in order of their first call: 2 words each, */
    uint32_t n_paths;                 /* function and path */
    uint32_t sub_clusters, after_expressions;
    uint32_t first_sub, first_parameter, n_parameters;
};

/* Sub-clusters are numbered over all main clusters, in their order. */
struct rfn_sub_cluster {
    uint32_t main;
    const struct rfn_rank_block *blocks;
    uint32_t n_blocks;
    uint32_t ranks, representative;
};

/* A parameter by which ranks of a main cluster differ. */
struct rfn_cluster_parameter {
    uint32_t main;
    uint32_t function, path;
    const char *name; /* of the parameter */
    enum rfn_cluster_role role;
    enum rfn_cluster_part part;
    uint32_t occurrence, occurrences;    /* which of the different values that the call path has, in
                                            order of occurrence, from 0 */
    const struct rfn_rank_block *blocks; /* whose parameter it is: ranks with as many values */
    uint32_t n_blocks;
    uint64_t n_values; /* different ones: of ranks, relative to the rank */
    struct rfn_rank_expression expression;
};

/* What clustering costs: sets of clusters go up a binary tree of ranks, as bytes
 * (doc/clustering.md, Format), and are merged there; the root divides the result. Seconds are CPU
 * time of the process. */
enum { RFN_CLUSTER_LEVELS = 33 };

struct rfn_cluster_level {
    uint64_t messages;       /* sets that go up; at level i to one of 2^i ranks */
    uint64_t bytes;          /* of them */
    uint64_t unmerged_bytes; /* if what each rank brought went up as it is */
    double seconds;          /* of merging */
};

struct rfn_clustering_cost {
    struct rfn_cluster_level levels[RFN_CLUSTER_LEVELS];
    uint32_t n_levels;
    double reading;     /* all ranks' signatures and parameters */
    double dividing;    /* into main and sub-clusters */
    double expressions; /* looking for them */
};

/* Clusters the ranks of an archive; *clustering is the caller's, and borrows the archive and the
 * users' expressions, which may be NULL. With FIELDS, parameters are compared one by one, and
 * expressions looked for. cost may be NULL: counting bytes takes time itself. Ranks that are not
 * readable are left out. RFN_E_NOMEM, RFN_E_UNSUPPORTED (a structure beyond all measure), and the
 * errors of reading. */
int rfn_clustering_new(const struct rfn_archive *archive, struct rfn_cluster_form form,
                       struct rfn_expressions *expressions, struct rfn_clustering_cost *cost,
                       struct rfn_clustering **clustering, struct rfn_diag *diag);
void rfn_clustering_free(struct rfn_clustering *clustering);

struct rfn_cluster_form rfn_clustering_form(const struct rfn_clustering *clustering);

/* Whether there are inputs that differ within a rank: FIELDS has only their least and their most
 * values, and ranks of a sub-cluster may differ in the others. */
struct rfn_cluster_extremes {
    bool lists;       /* lists of counts; of ranks, long ones */
    bool many_values; /* inputs with so many values that they lie in columns */
};
struct rfn_cluster_extremes rfn_clustering_extremes(const struct rfn_clustering *clustering);

uint32_t rfn_clustering_mains(const struct rfn_clustering *clustering);
uint32_t rfn_clustering_subs(const struct rfn_clustering *clustering);
uint32_t rfn_clustering_after_expressions(const struct rfn_clustering *clustering);
uint32_t rfn_clustering_unreadable(const struct rfn_clustering *clustering); /* ranks left out */
const struct rfn_main_cluster *rfn_clustering_main(const struct rfn_clustering *clustering,
                                                   uint32_t main);
const struct rfn_sub_cluster *rfn_clustering_sub(const struct rfn_clustering *clustering,
                                                 uint32_t sub);
const struct rfn_cluster_parameter *
rfn_clustering_parameter(const struct rfn_clustering *clustering, uint32_t parameter);

#pragma GCC visibility pop

#endif
