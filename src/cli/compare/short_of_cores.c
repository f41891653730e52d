/* short_of_cores.c - which of the compared runs lacked cores, and in what their conditions differ.
 */
#include "cli/compare/compare.h"
#include "cli/text/hosts.h"
#include "cli/text/wrap.h"

#include <stdlib.h>
#include <string.h>

void rfn_compare_cores_append(struct rfn_text *text, const char *name,
                              const struct rfn_compared_run *run)
{
    const double share = rfn_core_wait_share(&run->measured);
    const struct rfn_archive *archive = run->measured.archive;
    struct rfn_text why = {0};
    if (!run->times || rfn_archive_run(archive)->predicted)
        return; /* a prediction may be for another machine */
    rfn_crowding_append(&why, archive);
    if (share > RFN_CROWDED_SHARE)
        rfn_text_format(&why, "%s for %s %s of the time", why.n ? ", and waited" : "ranks waited",
                        why.n ? "one" : "a core", rfn_share_text(share).text);
    if (why.n) {
        rfn_text_string(text, text->n ? ", " : "Short of cores: ");
        rfn_text_printable(text, name);
        rfn_text_format(text, " (%s)", rfn_text_terminated(&why));
    }
    text->failed |= why.failed;
    rfn_text_release(&why);
}

void rfn_compare_cores_print(struct rfn_text *out, const struct rfn_compare_options *given,
                             struct rfn_text *text)
{
    if (text->n) {
        rfn_text_string(text, ". Times may differ by that alone: give each rank a core of its own, "
                              "and compare again.");
        rfn_text_wrap(out, text, given->width, 3);
    }
    out->failed |= text->failed;
    rfn_text_release(text);
}

/* ---- conditions ---- */

static void append_hosts(struct rfn_text *text, const struct rfn_compared_run *run)
{
    size_t n;
    struct rfn_host *hosts = rfn_hosts_of(run->measured.archive, &n);
    text->failed |= !hosts;
    for (size_t i = 0; hosts && i < n && i < 3; i++) {
        rfn_text_string(text, i ? ", " : "");
        rfn_text_printable(text, hosts[i].name[0] ? hosts[i].name : "?");
        if (hosts[i].cores)
            rfn_text_format(text, " with %u cores", hosts[i].cores);
    }
    if (n > 3)
        rfn_text_format(text, " and %zu more", n - 3);
    free(hosts);
}

static void append_mpi(struct rfn_text *text, const struct rfn_compared_run *run)
{
    const char *mpi = rfn_archive_run(run->measured.archive)->mpi;
    rfn_text_printable(text, mpi && mpi[0] ? mpi : "?");
}

/* Of the first rank that is known. */
static const struct rfn_process_cores *cores_of(const struct rfn_compared_run *run)
{
    const struct rfn_usage *usage = run->measured.usage;
    return usage && usage->n_cores ? &usage->cores[0] : NULL;
}

static void append_cores(struct rfn_text *text, const struct rfn_compared_run *run)
{
    const struct rfn_process_cores *of = cores_of(run);
    if (of && of->mask_bytes)
        rfn_text_unsigned(text, rfn_process_cores_count(of));
}

static void append_omp(struct rfn_text *text, const struct rfn_compared_run *run)
{
    const struct rfn_process_cores *of = cores_of(run);
    if (of && of->omp_threads)
        rfn_text_unsigned(text, of->omp_threads);
    else if (of)
        rfn_text_string(text, "not set");
}

void rfn_compare_conditions_print(struct rfn_text *out, const struct rfn_compare_options *given,
                                  const struct rfn_compared_run *runs)
{
    static const struct {
        const char *name;
        void (*append)(struct rfn_text *text, const struct rfn_compared_run *run);
    } conditions[] = {{"hosts", append_hosts}, /* first: more ranks have more */
                      {"MPI", append_mpi},
                      {"cores that a rank may use", append_cores},
                      {"OMP_NUM_THREADS", append_omp}};
    struct rfn_text line = {0};
    const bool same_ranks = rfn_archive_run(runs[0].measured.archive)->ranks ==
                            rfn_archive_run(runs[1].measured.archive)->ranks;
    for (size_t i = same_ranks ? 0 : 1; i < sizeof conditions / sizeof *conditions; i++) {
        struct rfn_text a = {0}, b = {0};
        conditions[i].append(&a, &runs[0]);
        conditions[i].append(&b, &runs[1]);
        const char *of_a = rfn_text_terminated(&a), *of_b = rfn_text_terminated(&b);
        if (*of_a && *of_b && strcmp(of_a, of_b) != 0)
            rfn_text_format(&line, "%s%s (A: %s; B: %s)",
                            line.n ? ", " : "Conditions differ: ", conditions[i].name, of_a, of_b);
        line.failed |= a.failed || b.failed;
        rfn_text_release(&a);
        rfn_text_release(&b);
    }
    if (line.n) {
        rfn_text_char(&line, '.');
        rfn_text_wrap(out, &line, given->width, 3);
    }
    out->failed |= line.failed;
    rfn_text_release(&line);
}
