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

/* The times of this thread's stream as they are, if they are kept, and are not few. */
static void pack_ahead(uint64_t wishes, struct rfn_rope *times)
{
    if (rec_this_stream && rec_state == REC_RECORDING && wishes & WANTS_FILE &&
        wishes & WANTS_TIMES && !(wishes & (WANTS_REDUCED | WANTS_ALL)) &&
        !rfn_stream_reduced(rec_this_stream->events) &&
        rec_pack_times(rec_this_stream->events, NULL, times) < 0)
        rfn_rope_release(times);
    if (rfn_rope_size(times) < REC_TIMES_LARGE)
        rfn_rope_release(times);
}

/* Rank 0 offers memory where clocks of nodes are not to be compared, for which messages of MPI are
 * needed. */
static struct first_word offer(const struct rfn_rope *times)
{
    const int size = rec_place_size();
    struct first_word word = {.wishes = rec_finishing_own_wishes()};
    if (size > 1 && rec_options.node_memory && !rec_meetings_on && !rec_clock_sync_wanted())
        word.memory = rec_node_offer(size);
    if (word.memory.nonce)
        word.file = rec_ahead_offer(&rec_gathered.ahead, rfn_rope_size(times), size);
    return word;
}

/* Until all ranks are here. Those of one node then share memory, and have put their times into the
 * file while they waited. */
static void gather_ranks(MPI_Comm all)
{
    struct rec_node_exchange *node = &rec_gathered.node;
    struct rec_node_name offered = {0};
    struct first_word word = {0};
    struct rfn_rope times = RFN_ROPE_INIT;
    pack_ahead(rec_finishing_own_wishes(), &times);
    if (rec_is_first_rank()) {
        word = offer(&times);
        offered = word.memory;
    }
    if (rec_mpi.MPI_Bcast(&word, sizeof word, MPI_BYTE, 0, all) != MPI_SUCCESS)
        word.memory.nonce = 0;
    rec_gathered.wishes = word.wishes;
    bool joined = rec_options.node_memory &&
                  rec_node_join(node, &word.memory, rec_place_rank(), rec_place_size());
    if (joined && rfn_rope_size(&times) > 0)
        rec_ahead_write(&rec_gathered.ahead, &word.file, word.memory.process, node, &times);
    if (rec_all_say(all, joined))
        rec_ahead_settle(&rec_gathered.ahead, node);
    else
        rec_gathered_release();
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
