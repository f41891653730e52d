/* stories_text.c - stories in words, each with advice. */
#include "explain/advice.h"
#include "explain/work_usage.h"
#include "refrain/event.h"
#include "refrain/explain.h"

#include <string.h>

/* What a rank did, without "computing ", and whether it used a core. */
static void append_where(struct rfn_text *text, const struct rfn_measured *run,
                         const struct rfn_finding *finding)
{
    static const char computing[] = "computing ";
    struct rfn_text words = {0};
    rfn_activity_append(&words, run->archive, &run->waits->activities[finding->activity]);
    const char *from = rfn_text_terminated(&words);
    if (strncmp(from, computing, sizeof computing - 1) == 0)
        from += sizeof computing - 1;
    rfn_text_string(text, from);
    rfn_work_usage_append(text, &finding->usage, " and");
    text->failed |= words.failed;
    rfn_text_release(&words);
}

static void append_late(struct rfn_text *text, const struct rfn_measured *run,
                        const struct rfn_finding *finding)
{
    rfn_late_ranks_append(text, finding->ranks, finding->n_ranks, run->waits->n_ranks);
}

/* ". Others wait for messages (late sender) in exchange() [halo.c:58]." */
static void append_waiting(struct rfn_text *text, const struct rfn_measured *run,
                           const struct rfn_finding *finding)
{
    struct rfn_text words = {0};
    rfn_finding_append_waiting(&words, run, finding);
    const char *from = rfn_text_terminated(&words);
    rfn_text_format(text, ". %c%s.",
                    from[0] >= 'a' && from[0] <= 'z' ? from[0] - 'a' + 'A' : from[0],
                    from[0] ? from + 1 : "");
    text->failed |= words.failed;
    rfn_text_release(&words);
}

/* All may leave a barrier at once. Who does not, and does not wait there, was held up. */
static bool leaves_barrier(const struct rfn_measured *run, const struct rfn_activity *activity)
{
    return activity->kind == RFN_ACTIVITY_MPI &&
           rfn_call_site_function(run->archive, activity->at)->class_ == RFN_CLASS_BARRIER;
}

/* One rank, or some, longer than the others; most of them by turns. */
static void append_cause(struct rfn_text *text, const struct rfn_measured *run,
                         const struct rfn_finding *finding)
{
    const struct rfn_activity *activity = &run->waits->activities[finding->activity];
    bool computes = activity->kind == RFN_ACTIVITY_COMPUTE,
         more = (finding->late == RFN_LATE_ONE || finding->late == RFN_LATE_SOME) &&
                finding->n_late < run->waits->n_ranks; /* else there are no others */
    bool one = finding->n_late <= 1;                   /* as they are named */
    append_late(text, run, finding);
    if (rfn_work_is_serial(run, finding))
        rfn_text_string(text,
                        rfn_work_is_idle(&finding->usage) ? " alone is busy " : " alone computes ");
    else if (computes && more && rfn_work_is_idle(&finding->usage))
        rfn_text_string(text,
                        one ? " takes longer than the others " : " take longer than the others ");
    else if (computes && more)
        rfn_text_string(text, one ? " computes longer than the others "
                                  : " compute longer than the others ");
    else if (computes && rfn_work_is_idle(&finding->usage))
        rfn_text_string(text, one ? " makes other ranks wait " : " make other ranks wait ");
    else if (computes)
        rfn_text_string(text, one ? " is late while it computes "
                                  : " are late at different times while they compute ");
    else if (leaves_barrier(run, activity))
        rfn_text_string(text, one ? " leaves a barrier late, " : " leave a barrier late, ");
    else
        rfn_text_string(text, one ? " is " : " are ");
    append_where(text, run, finding);
    append_waiting(text, run, finding);
}

static void append_row(struct rfn_text *text, const struct rfn_measured *run,
                       const struct rfn_profile_row *row)
{
    const struct rfn_call_site site = {row->function, row->path};
    rfn_text_printable(text, rfn_call_site_function(run->archive, site)->name);
    rfn_text_string(text, ", ");
    rfn_call_site_place(text, run->archive, site);
}

/* What ranks compute in all may hide so much of the time that messages take, or more. */
#define WORTH_HIDING 0.2

static bool computes_meanwhile(const struct rfn_measured *run, const struct rfn_story *story)
{
    const struct rfn_efficiency *e = &run->efficiency;
    return (double)e->mean_outside_ns * run->profile->n_ranks >= WORTH_HIDING * (double)story->ns;
}

/* Where ranks that are late had too few cores, that may be all there is to it, unless it was
 * measured what they did in this work. */
static void append_cores(struct rfn_text *text, const struct rfn_measured *run,
                         const struct rfn_finding *finding)
{
    double share = 0;
    uint32_t known = 0;
    if (rfn_archive_run(run->archive)->predicted) /* maybe for another machine */
        return;
    for (uint32_t i = 0; i < finding->n_late; i++) {
        const double of_rank = rfn_core_share_of_rank(run, finding->ranks[i].rank);
        share += of_rank < 0 ? 0 : of_rank;
        known += of_rank >= 0;
    }
    if (!known || share / known >= RFN_CORES_SHORT || finding->usage.known)
        return;
    rfn_text_format(text, " But %s had cores for only %s of the time in which %s could run.",
                    finding->n_late == 1 ? "that rank" : "these ranks",
                    rfn_share_text(share / known).text, finding->n_late == 1 ? "it" : "they");
}

void rfn_story_append(struct rfn_text *text, const struct rfn_measured *run,
                      const struct rfn_stories *stories, const struct rfn_story *story)
{
    const struct rfn_finding *finding = rfn_story_finding(stories, story);
    const bool transfer = story->kind == RFN_STORY_SMALL_MESSAGES ||
                          story->kind == RFN_STORY_NO_OVERLAP;
    rfn_text_format(text, "%s of all ranks' time is lost by %s (%s): ",
                    rfn_share_text(rfn_measured_share(run, (double)story->ns)).text,
                    transfer ? "transfer" : "waiting", rfn_time_text(story->ns).text);
    switch (story->kind) {
    case RFN_STORY_CAUSE:
        append_cause(text, run, finding);
        break;
    case RFN_STORY_SLOW_RANKS:
        if (story->host) {
            rfn_text_string(text, "the ranks of ");
            rfn_text_printable(text, story->host);
            rfn_text_string(text, " take");
        } else {
            rfn_text_format(text, "rank %u takes", finding->ranks[0].rank);
        }
        rfn_text_format(text,
                        " %.1f times as long as the others for everything that %s, most of it ",
                        story->factor, story->host ? "they compute" : "it computes");
        append_where(text, run, finding);
        append_waiting(text, run, finding);
        break;
    case RFN_STORY_ONE_BY_ONE:
        rfn_text_format(text,
                        "ranks work one after the other, on average %.1f of %u at the same time, ",
                        story->at_once, run->waits->n_ranks);
        append_where(text, run, finding);
        append_waiting(text, run, finding);
        break;
    case RFN_STORY_MASTER:
        rfn_text_format(text, "other ranks wait for rank %u, which answers them one by one, ",
                        finding->ranks[0].rank);
        rfn_activity_append(text, run->archive, &run->waits->activities[finding->activity]);
        rfn_text_string(text, ". They wait in ");
        rfn_call_site_place(text, run->archive, finding->waited);
        rfn_text_char(text, '.');
        break;
    case RFN_STORY_PIPELINE:
        rfn_text_format(text,
                        "ranks form a pipeline and wait while it fills and drains: on average %.1f "
                        "of %u work at the same time, ",
                        story->at_once, run->waits->n_ranks);
        append_where(text, run, finding);
        append_waiting(text, run, finding);
        break;
    case RFN_STORY_SEND_CHAIN:
        rfn_text_string(
            text,
            "sends end one after the other, because each ends only when the next rank receives");
        if (run->waits->activities[finding->activity].kind == RFN_ACTIVITY_COMPUTE) {
            rfn_text_string(text, ", after ");
            rfn_activity_append(text, run->archive, &run->waits->activities[finding->activity]);
        }
        append_waiting(text, run, finding);
        break;
    case RFN_STORY_NOISE:
        rfn_text_string(text, "another rank is late each time, ");
        rfn_activity_append(text, run->archive, &run->waits->activities[finding->activity]);
        append_waiting(text, run, finding);
        break;
    case RFN_STORY_SMALL_MESSAGES:
        rfn_text_format(text, "%s messages of %s on average, most of the time in ",
                        rfn_count_text(story->messages).text,
                        rfn_bytes_text(story->messages ? story->bytes / story->messages : 0).text);
        append_row(text, run, story->row);
        rfn_text_char(text, '.');
        break;
    case RFN_STORY_NO_OVERLAP:
        rfn_text_string(text, "messages are transferred while ranks wait in ");
        append_row(text, run, story->row);
        rfn_text_string(text, computes_meanwhile(run, story)
                                  ? ", not while they compute."
                                  : ", and the ranks have little to compute at the same time.");
        break;
    }
    if (finding)
        append_cores(text, run, finding);
}

void rfn_story_advice(struct rfn_text *text, const struct rfn_measured *run,
                      const struct rfn_stories *stories, const struct rfn_story *story)
{
    switch (story->kind) {
    case RFN_STORY_CAUSE:
        rfn_finding_advice(text, run, rfn_story_finding(stories, story));
        break;
    case RFN_STORY_SLOW_RANKS:
        rfn_text_format(text,
                        "Look at %s: clock rate, memory, other processes, cores that ranks share. "
                        "If it is as fast as the others, give %s less work.",
                        story->host ? "that host" : "that rank's core and host",
                        story->host ? "its ranks" : "the rank");
        break;
    case RFN_STORY_ONE_BY_ONE:
        rfn_text_string(text,
                        "Make this work shorter, or let all ranks do it at the same time (for "
                        "output MPI_File_write_at_all, or gather and let one rank write).");
        break;
    case RFN_STORY_MASTER:
        rfn_text_string(text, "Make that rank answer faster, give out larger tasks, or let a "
                              "second rank answer, too.");
        break;
    case RFN_STORY_PIPELINE:
        rfn_text_string(text, "Pass the work on in smaller parts, so that the next rank begins "
                              "earlier, or run several pipelines at the same time.");
        break;
    case RFN_STORY_SEND_CHAIN:
        rfn_text_string(text,
                        "Use MPI_Sendrecv or MPI_Irecv and MPI_Isend, or let every second rank "
                        "receive first.");
        break;
    case RFN_STORY_NOISE:
        rfn_text_string(
            text, "The work varies from step to step, or the system disturbs it: pin the ranks, "
                  "leave a core to the system, and synchronize less often.");
        break;
    case RFN_STORY_SMALL_MESSAGES:
        rfn_text_string(text,
                        "Small messages cost latency, not bandwidth: send fewer and larger ones.");
        break;
    case RFN_STORY_NO_OVERLAP:
        rfn_text_string(
            text,
            computes_meanwhile(run, story)
                ? "Many MPI libraries transfer large messages only during MPI calls: call MPI_Test "
                  "from time to time while computing, or let MPI use a thread for transfers."
                : "Send less data, or use fewer ranks, so that each computes more between its "
                  "messages.");
        break;
    }
}
