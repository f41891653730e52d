/* compare.h - the forms of `refrain compare`: two runs, three and more, several of each of two
 * sides, a reduced archive and the full one. */
#ifndef RFN_CLI_COMPARE_COMPARE_H
#define RFN_CLI_COMPARE_COMPARE_H

#include "cli/args/command.h"
#include "cli/compare/gates.h"
#include "refrain/explain.h"

struct rfn_compare_options {
    char **files;
    size_t n_files;
    size_t before; /* --with: so many of them are the first side; else 0 */
    struct rfn_gate *gates;
    size_t n_gates;
    bool json;
    bool all;        /* rows too that hardly differ */
    size_t top;      /* rows of each table, or entries of each list */
    size_t findings; /* of each run, where there are more than two */
    size_t width;
};

/* Two runs: pages, and JSON (NULL where memory ran out). */
void rfn_compare_two_text(struct rfn_text *out, const struct rfn_compare_options *given,
                          const struct rfn_compared_runs *compared);
json_t *rfn_compare_two_json(const struct rfn_compare_options *given,
                             const struct rfn_compared_runs *compared);
/* The same of three and more. */
void rfn_compare_many_text(struct rfn_text *out, const struct rfn_compare_options *given,
                           const struct rfn_scaling *scaling);
json_t *rfn_compare_many_json(const struct rfn_compare_options *given,
                              const struct rfn_scaling *scaling);

/* The same of several runs of two sides. rows: of the gates. */
void rfn_compare_sides_text(struct rfn_text *out, const struct rfn_compare_options *given,
                            const struct rfn_compared_sides *compared,
                            const struct rfn_row_change *const *rows);
json_t *rfn_compare_sides_json(const struct rfn_compare_options *given,
                               const struct rfn_compared_sides *compared,
                               const struct rfn_row_change *const *rows);

/* Prints what the second of two files, the reduced one, saves and loses; the exit status. */
int rfn_compare_reduction(const struct rfn_compare_options *given);

/* For both: "before.rfn: halo on 8 ranks of north; Open MPI v4.1.2"; and, where it is so, that it
 * has no times, or times of alike iterations. */
void rfn_compare_file_append(struct rfn_text *text, const char *file,
                             const struct rfn_compared_run *run);

/* For both: "B (4 ranks share the 2 cores of north, and waited for one 38 % of the time)", of a run
 * with fewer cores than ranks, or whose ranks waited for a core. */
void rfn_compare_cores_append(struct rfn_text *text, const char *name,
                              const struct rfn_compared_run *run);
/* A sentence of these words, which are released; nothing where there are none. */
void rfn_compare_cores_print(struct rfn_text *out, const struct rfn_compare_options *given,
                             struct rfn_text *text);
/* A sentence on how hosts, MPI, cores and threads of two runs differ, if they do. */
void rfn_compare_conditions_print(struct rfn_text *out, const struct rfn_compare_options *given,
                                  const struct rfn_compared_run *runs);

#endif
