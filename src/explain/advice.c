#include "explain/advice.h"

#include "refrain/event.h"

/* What one rank must cost of all, so that it is named alone, and several together. */
static const double alone = 2.0 / 3, together = 0.9;

/* Most ranks are late, and none stands out: none costs that many times the mean of the others. */
enum { ALIKE_AT_LEAST = 4, STANDS_OUT = 2 };

static double sum_of(const struct rfn_rank_ns *ranks, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)ranks[i].ns;
    return sum;
}

uint32_t rfn_late_ranks(const struct rfn_rank_ns *ranks, uint32_t n)
{
    double sum = sum_of(ranks, n), so_far = 0;
    if (n > 0 && (double)ranks[0].ns >= alone * sum)
        return 1;
    for (uint32_t i = 0; i < n; i++) {
        so_far += (double)ranks[i].ns;
        if (so_far >= together * sum)
            return i + 1;
    }
    return n;
}

bool rfn_rank_stands_out(const struct rfn_rank_ns *ranks, uint32_t n, uint32_t n_all)
{
    double most = n ? (double)ranks[0].ns : 0;
    return most * (n_all - 1.0) >= STANDS_OUT * (sum_of(ranks, n) - most);
}

enum rfn_late_kind rfn_late_kind_of(const struct rfn_rank_ns *ranks, uint32_t n, uint32_t n_all)
{
    uint32_t late = rfn_late_ranks(ranks, n);
    if (late <= 1)
        return RFN_LATE_ONE;
    bool most = late >= ALIKE_AT_LEAST && late >= n_all / 2;
    return most && !rfn_rank_stands_out(ranks, n, n_all) ? RFN_LATE_ALIKE : RFN_LATE_SOME;
}

/* What to do about ranks that compute longer than others. */
static const char *for_computing(enum rfn_pattern pattern, enum rfn_late_kind late,
                                 struct rfn_advised doing)
{
    if (pattern == RFN_LATE_BROADCAST)
        return "Let the root send before it does this work, or let every rank compute the data "
               "itself.";
    if (pattern == RFN_LATE_RECEIVER && late == RFN_LATE_ONE)
        return "Give that rank less of this work, or let it post the receive earlier (MPI_Irecv).";
    if (pattern == RFN_LATE_RECEIVER)
        return "Post the receive before this work (MPI_Irecv), or send without blocking "
               "(MPI_Isend).";
    if (pattern == RFN_WAIT_AT_BARRIER && late == RFN_LATE_EVEN)
        return "In total all ranks compute about equally long, but at different times: remove the "
               "barrier if the program is correct without it, or begin this work earlier.";
    if (late == RFN_LATE_EVEN)
        return "In total all ranks compute about equally long, but at different times: begin this "
               "work earlier, or pass it on in smaller parts.";
    if (pattern == RFN_LATE_SENDER && late == RFN_LATE_ALIKE)
        return "No rank stands out: ranks work one after the other, or the work varies from step "
               "to step. Send the data that others wait for before this work.";
    if (pattern == RFN_WAIT_AT_BARRIER && late == RFN_LATE_ALIKE)
        return "No rank stands out: the work varies from step to step, or the system disturbs it. "
               "Remove the barrier if the program is correct without it, or pin the ranks to "
               "cores.";
    if (late == RFN_LATE_ALIKE)
        return "No rank stands out: the work varies from step to step, or the system disturbs it. "
               "Pin the ranks to cores, and synchronize less often.";
    if (pattern == RFN_EARLY_REDUCE || pattern == RFN_WAIT_AT_NX1)
        return "Balance this work over the ranks, or let the root continue without waiting "
               "(MPI_Ireduce, MPI_Igather).";
    if (doing.serial)
        return "Divide this work among the ranks, or let them do other work at the same time.";
    if (late == RFN_LATE_ONE && doing.idle)
        return "Give that rank less of this work.";
    if (late == RFN_LATE_ONE)
        return "Give that rank less of this work, or find out why it is slow: input and output, a "
               "slower node.";
    if (pattern == RFN_LATE_SENDER)
        return "Balance this work over the ranks, or send the data that others wait for before it.";
    return "Balance this work over the ranks.";
}

/* What to do about ranks that are late because they were in a call of MPI. */
static const char *for_call(struct rfn_advised doing, bool missing)
{
    /* Other calls may wait for ranks in ways that are no wait state. */
    bool alone = doing.class_ == RFN_CLASS_SETUP || doing.class_ == RFN_CLASS_FILE ||
                 doing.class_ == RFN_CLASS_OTHER;
    if (missing && !alone)
        return "This call may wait for ranks that are not in this archive.";
    if (doing.polls)
        return "Poll less often, or wait in a blocking call: each poll takes time, even if no "
               "message has come.";
    switch (doing.class_) {
    case RFN_CLASS_SETUP:
        return "This is start-up: its share is smaller when the program runs longer.";
    case RFN_CLASS_FILE:
        if (doing.collective)
            return "Write and read less often, or let other ranks write for all (hints cb_nodes "
                   "and cb_config_list of MPI_Info).";
        return "Write and read less often, or collectively (MPI_File_write_all).";
    case RFN_CLASS_COMM:
        return "Create communicators once and use them again.";
    case RFN_CLASS_BARRIER:
        return "The system disturbs these ranks, or they share cores: pin the ranks, one to a "
               "core, and remove synchronization that is not needed.";
    case RFN_CLASS_RMA_SYNC:
        return "Remove synchronization that is not needed.";
    case RFN_CLASS_ALL_TO_ONE: /* for who gives much it does not end before the root comes */
        return "A rank that gives much data may wait for the root in this call: balance the work "
               "before it, or continue without waiting (MPI_Ireduce, MPI_Igather).";
    default:
        return "Send less data, or fewer and larger messages; divide the messages among the ranks; "
               "or compute while messages are transferred.";
    }
}

const char *rfn_advice(enum rfn_pattern pattern, struct rfn_advised doing, enum rfn_late_kind late,
                       bool missing)
{
    const enum rfn_activity_kind kind = doing.kind;
    if (kind == RFN_ACTIVITY_RECORDING)
        return "The program is not the cause: allow the recorder more memory (--memory), or leave "
               "out calls (--exclude).";
    if (kind == RFN_ACTIVITY_COMPUTE && doing.polls)
        return "If the rank does not work between these polls, it waits, too: find out for which "
               "rank, and wait in a blocking call. Otherwise balance this work.";
    if (pattern == RFN_WRONG_ORDER && kind == RFN_ACTIVITY_COMPUTE && late == RFN_LATE_ONE)
        return "Give that rank less of this work, or receive first the message that comes first "
               "(MPI_Waitany, MPI_ANY_SOURCE).";
    if (pattern == RFN_WRONG_ORDER)
        return "Receive in the order of sending, or receive first the message that comes first "
               "(MPI_Waitany, MPI_ANY_SOURCE).";
    if (pattern == RFN_LOCK_CONTENTION)
        return "Hold the lock for less time, share it (MPI_LOCK_SHARED), or spread the data over "
               "more ranks.";
    if (kind == RFN_ACTIVITY_START)
        return "Ranks were launched one after the other. The program cannot change that, and the "
               "share is smaller when it runs longer.";
    if (kind == RFN_ACTIVITY_COMPUTE)
        return for_computing(pattern, late, doing);
    if (kind == RFN_ACTIVITY_MPI)
        return for_call(doing, missing);
    if (doing.collective && !missing) /* all had come, and it was not over yet */
        return "All ranks had reached that call, but it did not end: the system disturbs them, "
               "they share cores, or the network is slow. Pin the ranks, one to a core.";
    return "Find out what that call waits for: the other rank may not be in the archive.";
}
