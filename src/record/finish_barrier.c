#include "record/clock_sync.h"
#include "record/exchange_mpi.h"
#include "record/finishing.h"
#include "record/meetings.h"
#include "record/one_node.h"
#include "record/options.h"
#include "record/patience.h"
#include "record/place.h"
#include "record/tables.h"

struct rec_gathered rec_gathered = {.ahead = REC_AHEAD_INIT};

void rec_gathered_release(void)
{
    rec_node_leave(&rec_gathered.node);
    rec_ahead_release(&rec_gathered.ahead);
}

enum { PLAIN = 1 }; /* what a rank says of itself when it comes */

void rec_gathered_came(void)
{
    const struct rec_node_all all = rec_node_wait_for_all(&rec_gathered.node);
    rec_gathered.wishes = all.word;
    rec_gathered.last_came = all.last_came;
    rec_gathered.came = all.came;
    rec_gathered.plain = all.say & PLAIN;
}

/* Of this thread's stream: what others do cannot be disturbed. */
static void code_ahead(void)
{
    if (rec_this_stream && rec_state == REC_RECORDING && rec_options.write)
        rfn_stream_code_ahead(rec_this_stream->events);
}

static void end(struct rec_call *call)
{
    rec_end(call, MPI_SUCCESS);
    rec_leave(call);
}

#ifndef RFN_FLAVOUR_SMPI
/* The times of this thread's stream as they are, if all are kept and it writes them itself. whole:
 * there are no more to come. */
static void pack_ahead(struct rfn_rope *times, bool whole)
{
    const bool own = rec_options.write && !rec_options.segments && !rec_options.merge_all;
    if (own && rec_this_stream && rec_state == REC_RECORDING &&
        ((whole && rfn_stream_flush(rec_this_stream->events) < 0) ||
         rec_pack_times(rec_this_stream->events, NULL, times) < 0))
        rfn_rope_release(times);
}

/* plain: then the stream has the rank's number. When all have come is told by the system's clock,
 * which has to be that of the times. */
static void write_times_ahead(struct rec_node_exchange *node, bool plain)
{
    const bool whole = plain && rec_clock.kind != REC_CLOCK_MPI;
    const struct rfn_toc_entry entry = {.type = RFN_CHUNK_TIMING,
                                        .id = (uint64_t)node->exchange.rank};
    struct rfn_rope times = RFN_ROPE_INIT;
    pack_ahead(&times, whole);
    rec_ahead_write(&rec_gathered.ahead, node, &entry, whole, &times);
    rfn_rope_release(&times);
}

enum { NO_TAG = 32767 }; /* the largest that every MPI has */

/* What the program has left under way goes on: a message that another rank still receives. MPI
 * looks no further where it finds the message that it is asked for, as one would be that the
 * program has never received; a rank has sent none like that to itself. */
static bool progress(void)
{
    int any;
    rec_mpi.MPI_Iprobe(rec_place_rank(), NO_TAG, rec_place_comm(), &any, MPI_STATUS_IGNORE);
    return false;
}

/* The same where there may be such a message, which moves by some 100 KB each time, if it is large.
 * Whether it seems to move: MPI does not say, but then it takes longer. (Also where a core was
 * taken away, or caches are cold.) */
static bool progress_of_some(void)
{
    enum { LONGER = 3 };
    static int64_t least = INT64_MAX; /* ns */
    const int64_t began = rec_monotonic_ns();
    progress();
    const int64_t took = rec_monotonic_ns() - began;
    least = took < least ? took : least;
    return took > LONGER * least;
}

/* Of calls after which a message may be under way that no call waits for; what is not recorded may
 * have been one. */
static bool may_leave_messages(uint32_t function)
{
    return function == REC_FN_MPI_Buffer_attach || function == REC_FN_MPI_Request_free ||
           function == REC_FN_MPI_Pcontrol;
}

/* Other threads may still find new sites of their streams. */
static bool any_message_left(void)
{
    const struct rec_stream *stream = rec_this_stream;
    if (!stream || stream != rec_streams || stream->next)
        return true;
    const uint32_t n = rec_sites_count(&stream->sites);
    for (uint32_t site = 0; site < n; site++) {
        if (may_leave_messages(rec_sites_function(&stream->sites, site)))
            return true;
    }
    return rec_options.start_off || rec_requests_any();
}

/* Whether a survey (finish.c) would say of this process only that it has one stream. */
static bool is_plain(void)
{
    const struct rec_stream *stream = rec_this_stream;
    return rec_state == REC_RECORDING && rec_options.write && stream && stream == rec_streams &&
           !stream->next && stream->journal.writes == 0 && !rfn_stream_any_moved(stream->events);
}

/* Where ranks meet while the program runs they have a communicator, also for the end. */
static bool may_share(void)
{
    return rec_options.node_memory && !rec_meetings_on;
}

static bool shared_before; /* or tried to */

static bool is_to_share(void)
{
    return !shared_before && rec_place_size() > 1 && !rec_clock_sync_wanted();
}

/* What the system's clock of this process is behind the time of day. */
static int64_t clock_offset(void)
{
    const struct rec_clock_pair start = rec_start();
    return start.realtime_ns - start.monotonic_ns;
}

/* A process may have a clock of its own (in a time namespace), which is then off by more than what
 * disturbs a reading. */
static bool same_clock(int64_t offset_ns)
{
    enum { SECOND = 1000000000 };
    const int64_t apart = clock_offset() - offset_ns;
    return -SECOND < apart && apart < SECOND;
}

/* All ranks share memory from now on, or none. Once; clocks of nodes are compared by messages of
 * MPI, so the rest goes that way, too. all: a communicator of all ranks. */
static void share_memory(MPI_Comm all)
{
    struct rec_node_exchange *node = &rec_gathered.node;
    struct rec_node_name name = {0};
    const int size = rec_place_size();
    shared_before = true;
    if (rec_is_first_rank() && may_share())
        name = rec_node_offer(size);
    name.clock_ns = clock_offset();
    if (rec_mpi.MPI_Bcast(&name, sizeof name, MPI_BYTE, 0, all) != MPI_SUCCESS &&
        !rec_is_first_rank())
        name.nonce = 0;
    const bool joined = may_share() && same_clock(name.clock_ns) &&
                        rec_node_join(node, &name, rec_place_rank(), size);
    if (!rec_all_say(all, joined))
        rec_node_leave(node);
    if (rec_is_first_rank())
        rec_node_withdraw(&name);
}

void rec_gather_start(void)
{
    struct rec_patience patience;
    struct rec_exchange exchange;
    if (!rec_of_one_program() || !is_to_share())
        return;
    rec_patience_begin(&patience, "start MPI", NULL);
    if (rec_exchange_open(&exchange, true) == 0) {
        share_memory(exchange.comm);
        rec_exchange_close(&exchange);
    }
    rec_patience_end(&patience);
}

/* What the counter says now is what it says when the call ends. */
static void count_here(struct rec_call *call)
{
    struct rec_stream *stream = rec_stream_of(call);
    if (stream->counts)
        rec_count_exit(stream);
}

/* The call is an event now, whose end is still to come. Nothing may follow it: the stream stays
 * inside of it. */
static void end_too_early(struct rec_call *call)
{
    end(call);
    rec_stream_of(call)->inside = true;
}

/* The quanta at a time that has just been, and not before `least`. (MPI's clock is none of the
 * node's.) */
static uint64_t quanta_at(int64_t ns, uint64_t least)
{
    const struct rec_clock_pair start = rec_start(), now = rec_clock_pair();
    if (rec_clock.kind == REC_CLOCK_MPI)
        return now.quanta;
    const double run = (double)(now.monotonic_ns - start.monotonic_ns);
    const double ago = (double)(now.monotonic_ns - ns);
    const double quanta = run > 0 && ago > 0 ? ago / run * (double)(now.quanta - start.quanta) : 0;
    return quanta < (double)(now.quanta - least) ? now.quanta - (uint64_t)quanta : least;
}

static void end_again(struct rec_call *call, int64_t ns)
{
    struct rec_stream *stream = rec_stream_of(call);
    if (rec_state == REC_RECORDING &&
        rfn_stream_end_later(stream->events, quanta_at(ns, call->exit), call->volume_exit) < 0)
        rec_stop("out of memory");
    stream->inside = stream->in_fortran;
}

/* It ends when the archive says. */
static void end_elsewhere(struct rec_call *call)
{
    struct rec_stream *stream = rec_stream_of(call);
    stream->inside = stream->in_fortran;
}

static void end_at(struct rec_call *call, int64_t ns)
{
    const uint64_t volume = call->volume_exit;
    rec_end(call, MPI_SUCCESS);
    call->exit = quanta_at(ns, call->enter);
    call->volume_exit = volume;
    rec_leave(call);
}

/* Whether nothing that this rank will learn of the others changes the times that it has written. */
static bool keeps_times(void)
{
    return rec_gathered.plain && rec_gathered.ahead.whole &&
           rec_gathered.wishes == rec_finishing_own_wishes();
}

/* Until all ranks are here. What does not need all of them is done by then, and who has nothing
 * left to do sleeps: times are put into the file, and what ranks have is merged up the tree, where
 * the last one to come then has a way of a few ranks. If one rank is not plain that was in vain.
 * The call ends, on all ranks, when the last one has come: merging is none of the program's. */
static void gather_ranks(struct rec_call *call)
{
    struct rec_node_exchange *node = &rec_gathered.node;
    const bool plain = call && !call->off && is_plain();
    if (plain)
        end_too_early(call);
    else if (call)
        count_here(call);
    const bool under_way = any_message_left();
    node->meanwhile = under_way ? progress_of_some : progress;
    write_times_ahead(node, plain);
    rec_node_come(node, rec_gathered.arrived, plain ? PLAIN : 0, rec_finishing_own_wishes());
    const bool ended = rec_finish_early(plain, under_way);
    rec_gathered_came();
    node->meanwhile = NULL;
    rec_gathered.ends_elsewhere = ended || keeps_times();
    if (rec_gathered.ends_elsewhere)
        end_elsewhere(call);
    else if (plain)
        end_again(call, rec_gathered.came);
    else if (call)
        end_at(call, rec_gathered.came);
    if (!rec_gathered.ends_elsewhere)
        rec_ahead_forget(&rec_gathered.ahead);
    if (!ended)
        rec_ahead_settle(&rec_gathered.ahead, node, rec_gathered.plain);
}
#else
/* Its ranks share one thread, of which none may sleep, and more messages take simulated time. */
void rec_gather_start(void)
{
}

static bool is_to_share(void)
{
    return false;
}

static void share_memory(MPI_Comm all)
{
    (void)all;
}

static void gather_ranks(struct rec_call *call)
{
    (void)call;
}
#endif

bool rec_is_to_tell(void)
{
    struct rec_node_exchange *node = &rec_gathered.node;
    return node->memory ? rec_node_is_to_tell(node) : rec_is_first_rank();
}

/* The wait goes on until rank 0 has written what all have. */
static bool are_all_here(void)
{
    return rec_gathered.node.memory && rec_node_are_all_here(&rec_gathered.node);
}

void rec_finish_barrier(struct rec_call *call)
{
    rec_gathered.arrived = rec_monotonic_ns();
    rec_close_to_threads();
    code_ahead();
    const bool placed = rec_place_learn(); /* the recorder may not have seen MPI_Init */
    rec_patience_begin(&rec_gathered.patience, "reach the end of MPI", are_all_here);
    const MPI_Comm all = placed ? rec_place_comm() : MPI_COMM_NULL;
    if (all != MPI_COMM_NULL && is_to_share())
        share_memory(all);
    if (rec_gathered.node.memory) {
        gather_ranks(call);
    } else {
        if (all != MPI_COMM_NULL)
            rec_mpi.MPI_Barrier(all);
        if (call)
            end(call);
    }
    rec_patience_over(&rec_gathered.patience);
}
