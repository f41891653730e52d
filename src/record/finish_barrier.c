#include "record/clock_sync.h"
#include "record/finishing.h"
#include "record/meetings.h"
#include "record/options.h"
#include "record/patience.h"
#include "record/place.h"

struct rec_gathered rec_gathered = {.ahead = REC_AHEAD_INIT};

void rec_gathered_release(void)
{
    rec_node_leave(&rec_gathered.node);
    rec_ahead_release(&rec_gathered.ahead);
}

/* Of this thread's stream: what others do cannot be disturbed. */
static void code_ahead(void)
{
    if (rec_this_stream && rec_state == REC_RECORDING && rec_options.write)
        rfn_stream_code_ahead(rec_this_stream->events);
}

#ifndef RFN_FLAVOUR_SMPI
/* What rank 0 says to all. */
struct first_word {
    struct rec_node_name memory;
    struct rec_ahead_file file;
    uint64_t wishes;
};

/* The times of this thread's stream as they are, if all are kept and it writes them itself, and
 * they are not few. */
static void pack_ahead(struct rfn_rope *times)
{
    const bool own = rec_options.write && rec_options.times && !rec_options.segments &&
                     !rec_options.merge_all;
    if (own && rec_this_stream && rec_state == REC_RECORDING &&
        rec_pack_times(rec_this_stream->events, NULL, times) < 0)
        rfn_rope_release(times);
    if (rfn_rope_size(times) < REC_TIMES_LARGE)
        rfn_rope_release(times);
}

/* Rank 0 offers memory where clocks of nodes are not to be compared, for which messages of MPI are
 * needed. It has joined it then. */
static struct first_word offer(const struct rfn_rope *times)
{
    const int size = rec_place_size();
    struct first_word word = {.wishes = rec_finishing_own_wishes()};
    if (size > 1 && rec_options.node_memory && !rec_meetings_on && !rec_clock_sync_wanted())
        word.memory = rec_node_offer(size);
    if (rec_node_join(&rec_gathered.node, &word.memory, 0, size))
        word.file = rec_ahead_offer(&rec_gathered.ahead, rfn_rope_size(times), size);
    else
        rec_node_withdraw(&word.memory);
    return word;
}

enum { NO_TAG = 32767 }; /* the largest that every MPI has */

/* What the program has left under way goes on: a message that another rank still receives. MPI
 * looks no further where it finds the message that it is asked for, as one would be that the
 * program has never received; a rank has sent none like that to itself. */
static void progress(void)
{
    int any;
    rec_mpi.MPI_Iprobe(rec_place_rank(), NO_TAG, rec_place_comm(), &any, MPI_STATUS_IGNORE);
}

/* Whether a survey (finish.c) would say of this process only that it has one stream. */
static bool is_plain(void)
{
    const struct rec_stream *stream = rec_this_stream;
    return rec_state == REC_RECORDING && rec_options.write && stream && stream == rec_streams &&
           !stream->next && stream->journal.writes == 0 && !rfn_stream_any_moved(stream->events);
}

/* Until all ranks are here: whether all have joined. Only those that have need be told, of which
 * each sleeps until then, and leaves the cores to those that are still on their way. */
static bool all_have_joined(MPI_Comm all, bool joined)
{
    struct rec_node_exchange *node = &rec_gathered.node;
    bool yes = rec_all_say_to_first(all, joined);
    if (joined && rec_is_first_rank())
        rec_node_say(node, yes);
    else if (joined)
        yes = rec_node_hear(node, progress);
    return joined && yes;
}

/* What a rank does that comes, before it waits for others. Rank 0 has joined already. */
static void join(const struct first_word *word, const struct rfn_rope *times)
{
    struct rec_node_exchange *node = &rec_gathered.node;
    if (!rec_is_first_rank() && rec_options.node_memory)
        rec_node_join(node, &word->memory, rec_place_rank(), rec_place_size());
    if (!node->memory)
        return;
    if (rfn_rope_size(times) > 0)
        rec_ahead_write(&rec_gathered.ahead, &word->file, word->memory.process, node, times);
    rec_node_come(node, rec_gathered.arrived, is_plain());
}

/* Until all ranks are here. Those of one node then share memory, and have put their times into the
 * file while they waited. */
static void gather_ranks(MPI_Comm all)
{
    struct rec_node_exchange *node = &rec_gathered.node;
    struct rec_node_name offered = {0};
    struct first_word word = {0};
    struct rfn_rope times = RFN_ROPE_INIT;
    pack_ahead(&times);
    if (rec_is_first_rank()) {
        word = offer(&times);
        offered = word.memory;
    }
    const int rc = rec_mpi.MPI_Bcast(&word, sizeof word, MPI_BYTE, 0, all);
    if (rc != MPI_SUCCESS && !rec_is_first_rank())
        word.memory.nonce = 0;
    rec_gathered.wishes = word.wishes;
    join(&word, &times);
    if (all_have_joined(all, node->memory)) {
        rec_ahead_settle(&rec_gathered.ahead, node);
        rec_gathered.plain = rec_node_all_said_yes(node);
        rec_gathered.last_came = rec_node_last_came(node);
    } else {
        rec_gathered_release();
        rec_mpi.MPI_Barrier(all);
    }
    rec_node_withdraw(&offered);
    rfn_rope_release(&times);
}
#else
/* Its ranks share one thread, of which none may sleep, and more messages take simulated time. */
static void gather_ranks(MPI_Comm all)
{
    rec_mpi.MPI_Barrier(all);
}
#endif

void rec_finish_barrier(void)
{
    struct rec_patience patience = {0};
    rec_gathered.arrived = rec_monotonic_ns();
    rec_close_to_threads();
    code_ahead();
    if (!rec_place_learn()) /* the recorder may not have seen MPI_Init */
        return;
    if (rec_is_first_rank())
        rec_patience_begin(&patience, "reach the end of MPI");
    MPI_Comm all = rec_place_comm();
    if (all != MPI_COMM_NULL)
        gather_ranks(all);
    rec_patience_end(&patience);
}
