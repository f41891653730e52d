/* report_cores.c - whether ranks had cores while their threads could run: the second line of the
 * page. Where they had not, times say more of the machine than of the program.
 */
#include "cli/report/report.h"
#include "cli/text/hosts.h"
#include "cli/text/json.h"

#include <stdlib.h>
#include <string.h>

static const struct rfn_process_cores *cores_of(const struct rfn_report *report, uint32_t rank)
{
    return report->usage ? rfn_usage_cores_of_rank(report->usage, rank) : NULL;
}

/* Of the run as it was recorded: a prediction may be for another machine. */
static struct rfn_core_access access_of(const struct rfn_report *report)
{
    const struct rfn_measured run = rfn_report_measured(report);
    return report->run->predicted ? (struct rfn_core_access){.share = 1} : rfn_core_access_of(&run);
}

static bool is_short(const struct rfn_core_access *access)
{
    return access->known &&
           (access->share < RFN_CORES_SHORT || access->worst_share < RFN_CORES_SHORT);
}

static bool is_blind(const struct rfn_core_access *access)
{
    return access->known && access->share < RFN_CORES_BLIND;
}

/* ---- why ---- */

/* What the rank with least of them shares its cores with. */
struct sharing {
    const char *host;
    uint32_t cores;          /* that it may use */
    uint32_t ranks, threads; /* of its host that may use the same ones; what OpenMP starts */
    uint32_t alike;          /* ranks that start as many threads */
    uint32_t own;            /* its own threads */
    bool bound;              /* it may not use all of its host */
};

static uint32_t threads_of(const struct rfn_process_cores *of)
{
    return of->omp_threads ? of->omp_threads : 1;
}

static bool same_mask(const struct rfn_process_cores *a, const struct rfn_process_cores *b)
{
    return a->mask_bytes == b->mask_bytes &&
           (!a->mask_bytes || memcmp(a->mask, b->mask, a->mask_bytes) == 0);
}

static const char *host_of(const struct rfn_report *report, const struct rfn_process_cores *of)
{
    const char *host = rfn_archive_stream(report->archive, of->stream).host;
    return host ? host : "";
}

static uint32_t cores_of_host(const struct rfn_report *report, const char *name)
{
    for (uint32_t i = 0; i < rfn_archive_hosts(report->archive); i++) {
        const struct rfn_host_info host = rfn_archive_host(report->archive, i);
        if (host.name && strcmp(host.name, name) == 0)
            return host.cores;
    }
    return 0;
}

static struct sharing sharing_of(const struct rfn_report *report,
                                 const struct rfn_process_cores *worst)
{
    struct sharing sharing = {.host = host_of(report, worst),
                              .cores = rfn_process_cores_count(worst),
                              .own = threads_of(worst)};
    const uint32_t whole = cores_of_host(report, sharing.host);
    sharing.bound = sharing.cores && whole > sharing.cores;
    sharing.cores = sharing.cores ? sharing.cores : whole;
    for (size_t i = 0; i < report->usage->n_cores; i++) {
        const struct rfn_process_cores *of = &report->usage->cores[i];
        if (!same_mask(of, worst) || strcmp(host_of(report, of), sharing.host) != 0)
            continue;
        sharing.ranks++;
        sharing.threads += threads_of(of);
        sharing.alike += threads_of(of) == sharing.own;
    }
    return sharing;
}

/* "2 ranks of 4 threads each (OMP_NUM_THREADS) share the 2 cores of vm", "rank 1 of 4 threads
 * (OMP_NUM_THREADS) is bound to 1 core of vm" */
static void append_why(struct rfn_text *text, const struct rfn_report *report,
                       const struct rfn_core_access *access)
{
    const struct sharing sharing = sharing_of(report, cores_of(report, access->worst_rank));
    const bool one = sharing.ranks == 1;
    if (!sharing.cores || sharing.threads <= sharing.cores) {
        if (!rfn_crowding_append(text, report->archive))
            rfn_text_string(text, "other programs, or threads that are not known here, take them");
        return;
    }
    if (one)
        rfn_text_format(text, "rank %u ", access->worst_rank);
    else
        rfn_text_format(text, "%u ranks ", sharing.ranks);
    if (sharing.own > 1 && sharing.alike == sharing.ranks)
        rfn_text_format(text, "of %u threads%s (OMP_NUM_THREADS) ", sharing.own,
                        one ? "" : " each");
    else if (sharing.threads > sharing.ranks)
        rfn_text_format(text, "with %u threads in all (OMP_NUM_THREADS) ", sharing.threads);
    if (sharing.bound)
        rfn_text_string(text, one ? "is bound to " : "are bound to the same ");
    else
        rfn_text_string(text, one ? "has the " : "share the ");
    rfn_text_format(text, "%u core%s of ", sharing.cores, sharing.cores == 1 ? "" : "s");
    rfn_text_printable(text, sharing.host[0] ? sharing.host : "?");
}

/* ---- the line ---- */

static void append_line(struct rfn_text *text, const struct rfn_report *report,
                        const struct rfn_core_access *access)
{
    if (access->share < RFN_CORES_SHORT)
        rfn_text_format(text, "Ranks had cores for %s of the time in which they could run: ",
                        rfn_share_text(access->share).text);
    else
        rfn_text_format(text,
                        "Rank %u had cores for %s of the time in which it could run, all ranks "
                        "together for %s: ",
                        access->worst_rank, rfn_share_text(access->worst_share).text,
                        rfn_share_text(access->share).text);
    append_why(text, report, access);
    rfn_text_string(text,
                    is_blind(access)
                        ? ". This page cannot tell more: what follows may all come from that. "
                          "Give each thread a core: start fewer ranks or threads "
                          "(OMP_NUM_THREADS) on a host, bind ranks to cores; then record again."
                        : ". Some of what follows may be waiting for a core.");
}

bool rfn_report_cores(struct rfn_text *out, const struct rfn_report *report)
{
    const struct rfn_core_access access = access_of(report);
    struct rfn_text text = {0};
    const struct rfn_measured run = rfn_report_measured(report);
    if (is_short(&access) && !rfn_measured_is_nothing(&run)) {
        append_line(&text, report, &access);
        rfn_report_sentence(out, report, &text, 3);
    }
    return access.known;
}

bool rfn_report_is_blind(const struct rfn_report *report)
{
    const struct rfn_core_access access = access_of(report);
    return is_blind(&access);
}

/* ---- in JSON ---- */

json_t *rfn_report_cores_json(const struct rfn_report *report)
{
    const struct rfn_core_access access = access_of(report);
    struct rfn_text text = {0};
    if (!access.known)
        return json_null();
    json_t *value = json_object();
    RFN_JSON_SET(value, "share", access.share);
    RFN_JSON_SET(value, "on_core_seconds", rfn_json_seconds(access.on_core_ns));
    RFN_JSON_SET(value, "runnable_seconds", rfn_json_seconds(access.runnable_ns));
    RFN_JSON_SET(value, "worst_rank", access.worst_rank);
    RFN_JSON_SET(value, "worst_share", access.worst_share);
    if (is_short(&access))
        append_line(&text, report, &access);
    RFN_JSON_SET(value, "text", is_short(&access) ? rfn_json_of_text(&text) : json_null());
    return value;
}

static json_t *affinity_json(const struct rfn_process_cores *of)
{
    uint32_t *numbers = calloc(8 * of->mask_bytes + 1, sizeof *numbers);
    struct rfn_text text = {.failed = !numbers};
    size_t n = 0;
    for (size_t i = 0; numbers && i < 8 * of->mask_bytes; i++) {
        if (of->mask[i / 8] >> i % 8 & 1)
            numbers[n++] = (uint32_t)i;
    }
    if (numbers)
        rfn_text_ranks(&text, numbers, n);
    free(numbers);
    return rfn_json_of_text(&text);
}

void rfn_report_rank_cores_json(json_t *value, const struct rfn_report *report, uint32_t rank)
{
    const struct rfn_measured run = rfn_report_measured(report);
    const struct rfn_process_cores *of = cores_of(report, rank);
    const double share = rfn_core_share_of_rank(&run, rank);
    if (!of)
        return;
    const struct rfn_core_window sum = rfn_process_cores_sum(of);
    RFN_JSON_SET(value, "cores",
                 of->mask_bytes ? json_integer(rfn_process_cores_count(of)) : json_null());
    RFN_JSON_SET(value, "affinity", of->mask_bytes ? affinity_json(of) : json_null());
    RFN_JSON_SET(value, "omp_num_threads",
                 of->omp_threads ? json_integer(of->omp_threads) : json_null());
    RFN_JSON_SET(value, "core_share", share < 0 ? json_null() : json_real(share));
    RFN_JSON_SET(value, "runnable_seconds",
                 share < 0 ? json_null() : rfn_json_seconds((double)sum.runnable_ns));
}

json_t *rfn_report_core_windows_json(const struct rfn_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; report->usage && i < report->usage->n_cores; i++) {
        const struct rfn_process_cores *of = &report->usage->cores[i];
        double from_ns = 0;
        for (size_t k = 0; k < of->n_windows && rfn_report_shows_rank(report, of->rank); k++) {
            const struct rfn_core_window *window = &of->windows[k];
            const double all = (double)window->on_core_ns + (double)window->runnable_ns;
            json_t *value = json_object();
            RFN_JSON_SET(value, "rank", of->rank);
            RFN_JSON_SET(value, "from_seconds", rfn_json_seconds(from_ns));
            from_ns += (double)window->wall_ns;
            RFN_JSON_SET(value, "to_seconds", rfn_json_seconds(from_ns));
            RFN_JSON_SET(value, "on_core_seconds", rfn_json_seconds((double)window->on_core_ns));
            RFN_JSON_SET(value, "runnable_seconds", rfn_json_seconds((double)window->runnable_ns));
            RFN_JSON_SET(value, "core_share", all > 0 ? (double)window->on_core_ns / all : 1);
            json_array_append_new(list, value);
        }
    }
    return list;
}
