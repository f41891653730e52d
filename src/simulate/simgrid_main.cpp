/* simgrid_main.cpp - a program that runs the actions of a source on libsimgrid itself, as SimGrid's
 * own replay of time-independent traces does, without text:
 *
 *     refrain-simgrid --platform P.xml --hosts H [OPTION...] INPUT
 *
 *     --hosts FILE          one host per line, by rank; from the first one again behind the last
 *     --collectives NAME    simgrid: SMPI's own, as smpi/coll-selector says; mpich, ompi: the
 *                           messages of collective_ops.h
 *     --messages            SMPI's algorithms as messages of collective_ops.h, too
 *     --rate F              flop per unit of volume (default 1), or per second where volumes are
 *                           times (default: they take as long as they did)
 *     --scale F             computing takes so many times as long
 *     --measured            compute by recorded times (archives)
 *     --cfg NAME:VALUE      SimGrid's, as often as you like
 *
 * INPUT is an archive or time-independent text. `refrain predict --engine simgrid` starts it, and
 * reads one line of JSON from its standard output:
 *
 *     {"engine": "simgrid", "simgrid": "3.32", "predicted_seconds": 1.5, "actions": 9, "ranks":
 *      [{"end": 1.5, "compute": 1, "sleep": 0, "messages": 0.5, "actions": 9, "sent": 2, "bytes":
 * 8}]}
 *
 * Times are seconds; messages are those that the rank sends, also in collective calls.
 *
 * Each rank is an actor that SMPI takes for one that replays, so that no message has data. Messages
 * are MPI_* calls; computing is execute, as MPI_* calls would else be charged with the time that
 * this program takes (smpi/simulate-computation). Collective calls on MPI_COMM_WORLD are actions of
 * SimGrid's replay. It has none for other communicators and for calls that do not block: those are
 * made of the same messages that SMPI's algorithms make. libsimgrid is under the LGPL; this is a
 * program of its own, and the only one in C++, for it.
 */
extern "C" {
#include "refrain/actions.h"
#include "refrain/archive.h"
#include "simulate/collectives/collective_ops.h"
}

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <smpi/smpi.h>
#include <xbt/replay.hpp>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace
{

struct Options {
    std::string platform, hosts, input;
    rfn_coll_choice collectives = RFN_COLL_CHOICE_SIMGRID;
    double rate = 0, scale = 1; /* 0: none was given */
    bool measured = false, messages = false;
    rfn_text_dialect from = RFN_TEXT_ANY;
    std::vector<std::string> settings;
};

Options options;
rfn_actions *actions;
rfn_diag diag; /* of the source */

/* Of a rank; times in seconds. */
struct Sums {
    double end, compute, sleep, messages;
    unsigned long long actions, sent, bytes;
    rfn_action_kind kind; /* of the action that it is in */
    uint64_t event;
    bool done;
};

std::vector<Sums> sums;

[[noreturn]] void die(const std::string &text, int status = RFN_EXIT_FAILURE)
{
    fprintf(stderr, "refrain-simgrid: %s\n", text.c_str());
    fflush(stderr);
    _exit(status);
}

/* ---- MPI's arguments ---- */

/* Nothing is read from it nor written to it. */
char nowhere[8];

/* All messages go through MPI_COMM_WORLD. Those of other communicators and of collective calls have
 * tags of their own, from here on, as none may be received in place of another one. */
constexpr int OWN_TAGS = 1 << 28;

/* Communicator, whether it is a collective call's, tag. */
std::map<std::tuple<uint32_t, bool, int64_t>, int> own_tags;

int tag_of(uint32_t comm, int64_t tag, bool collective)
{
    if (!comm && !collective && tag < OWN_TAGS)
        return static_cast<int>(tag);
    auto next = OWN_TAGS + static_cast<int>(own_tags.size());
    return own_tags.emplace(std::make_tuple(comm, collective, tag), next).first->second;
}

int tag_of(const rfn_action &a)
{
    return tag_of(a.comm, a.tag, false);
}

struct Count {
    int n;
    MPI_Datatype type;
};

/* Counts are int. */
Count count_of(int64_t bytes)
{
    if (bytes <= INT_MAX)
        return {static_cast<int>(bytes), MPI_BYTE};
    if (bytes / 8 >= INT_MAX)
        die("a message of " + std::to_string(bytes) + " bytes is too long for SimGrid");
    return {static_cast<int>((bytes + 7) / 8), MPI_DOUBLE};
}

int rank_of(int64_t peer)
{
    if (peer < 0 || peer >= rfn_actions_ranks(actions))
        die("there is no rank " + std::to_string(peer) + ", which an action names",
            RFN_EXIT_BAD_INPUT);
    return static_cast<int>(peer);
}

int rank_or_any(int64_t peer)
{
    return peer == RFN_ACTION_ANY ? MPI_ANY_SOURCE : rank_of(peer);
}

MPI_Request post_send(int64_t bytes, int to, int tag, bool synchronous)
{
    Count count = count_of(bytes);
    MPI_Request request;
    if (synchronous)
        MPI_Issend(nowhere, count.n, count.type, to, tag, MPI_COMM_WORLD, &request);
    else
        MPI_Isend(nowhere, count.n, count.type, to, tag, MPI_COMM_WORLD, &request);
    return request;
}

void send(int64_t bytes, int to, int tag, bool synchronous)
{
    Count count = count_of(bytes);
    if (synchronous)
        MPI_Ssend(nowhere, count.n, count.type, to, tag, MPI_COMM_WORLD);
    else
        MPI_Send(nowhere, count.n, count.type, to, tag, MPI_COMM_WORLD);
}

MPI_Request post_receive(int64_t bytes, int from, int tag)
{
    Count count = count_of(bytes);
    MPI_Request request;
    MPI_Irecv(nowhere, count.n, count.type, from, tag, MPI_COMM_WORLD, &request);
    return request;
}

void receive(int64_t bytes, int from, int tag)
{
    Count count = count_of(bytes);
    MPI_Recv(nowhere, count.n, count.type, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- a collective call as an action of SimGrid's replay ---- */

class ReplayAction
{
  public:
    ReplayAction(uint32_t rank, const char *name) : words{std::to_string(rank), name}
    {
    }

    ReplayAction &add(int64_t number)
    {
        words.push_back(std::to_string(number));
        return *this;
    }

    /* In elements; a vector that MPI does not look at has zeros. */
    ReplayAction &add(const int64_t *bytes, uint32_t n, int64_t element)
    {
        for (uint32_t i = 0; i < n; i++)
            add(bytes ? bytes[i] / element : 0);
        return *this;
    }

    void run()
    {
        xbt_replay_action_get(words[1].c_str())(words);
    }

  private:
    std::vector<std::string> words;
};

/* SimGrid's numbers of types of so many bytes. */
struct Type {
    int64_t bytes;
    int number;
};

Type type_of(uint32_t bytes)
{
    for (Type type : {Type{8, 0}, Type{4, 1}, Type{2, 3}})
        if (bytes == type.bytes)
            return type;
    return {1, 6};
}

int64_t sum(const int64_t *bytes, uint32_t n)
{
    int64_t all = 0;
    for (uint32_t i = 0; bytes && i < n; i++)
        all += bytes[i];
    return all;
}

/* Volumes are computed by this program, behind the call. scatterv reads a count where its second
 * type should be: it gets none, but bytes, the type by default. */
void replay(uint32_t rank, uint32_t ranks, const rfn_action &a)
{
    ReplayAction action(rank, rfn_action_name(a.kind));
    Type type = type_of(a.type_bytes);
    int64_t out = a.bytes / type.bytes, in = a.receive_bytes / type.bytes;
    switch (a.kind) {
    case RFN_ACTION_BARRIER:
        break;
    case RFN_ACTION_BCAST:
        action.add(out).add(a.root).add(type.number);
        break;
    case RFN_ACTION_REDUCE:
        action.add(out).add(0).add(a.root).add(type.number);
        break;
    case RFN_ACTION_ALLREDUCE:
    case RFN_ACTION_SCAN:
    case RFN_ACTION_EXSCAN:
        action.add(out).add(0).add(type.number);
        break;
    case RFN_ACTION_GATHER:
    case RFN_ACTION_SCATTER:
        action.add(out).add(in).add(a.root).add(type.number).add(type.number);
        break;
    case RFN_ACTION_ALLGATHER:
    case RFN_ACTION_ALLTOALL:
        action.add(out).add(in).add(type.number).add(type.number);
        break;
    case RFN_ACTION_GATHERV:
        action.add(out).add(a.receives, ranks, type.bytes);
        action.add(a.root).add(type.number).add(type.number);
        break;
    case RFN_ACTION_ALLGATHERV:
        action.add(out).add(a.receives, ranks, type.bytes).add(type.number).add(type.number);
        break;
    case RFN_ACTION_SCATTERV:
        action.add(a.sends, ranks, 1).add(a.receive_bytes).add(a.root);
        break;
    case RFN_ACTION_ALLTOALLV:
        action.add(sum(a.sends, ranks) / type.bytes).add(a.sends, ranks, type.bytes);
        action.add(sum(a.receives, ranks) / type.bytes).add(a.receives, ranks, type.bytes);
        action.add(type.number).add(type.number);
        break;
    default:
        action.add(a.receives, ranks, type.bytes).add(0).add(type.number);
        break;
    }
    action.run();
}

/* ---- a rank ---- */

class Rank
{
  public:
    explicit Rank(uint32_t rank) : rank(rank), ranks(rfn_actions_ranks(actions))
    {
    }
    ~Rank()
    {
        free(ops.ops);
    }

    void run()
    {
        rfn_action action;
        int more;
        ReplayAction(rank, "init").run(); /* counts are bytes where no type is told */
        while ((more = rfn_actions_next(actions, rank, &action)) > 0)
            account(action);
        if (more < 0)
            die(diag.text[0] ? diag.text : rfn_error_text(more), rfn_exit_status(more));
        for (auto &request : requests)
            finish(request.second);
        finish(nameless);
        sums[rank].end = simgrid::s4u::Engine::get_clock();
        sums[rank].done = true;
    }

  private:
    /* What an action's request stands for. */
    struct Posted {
        std::vector<MPI_Request> requests;
        double flops = 0; /* behind them */
    };

    uint32_t rank, ranks;
    std::unordered_map<int64_t, Posted> requests;
    Posted nameless; /* that no action waits for: of buffered sends */
    rfn_coll_ops ops = {};

    void account(const rfn_action &a)
    {
        Sums &sum = sums[rank];
        double before = simgrid::s4u::Engine::get_clock();
        sum.kind = a.kind;
        sum.event = a.event;
        perform(a);
        double passed = simgrid::s4u::Engine::get_clock() - before;
        *(a.kind == RFN_ACTION_COMPUTE ? &sum.compute
          : a.kind == RFN_ACTION_SLEEP ? &sum.sleep
                                       : &sum.messages) += passed;
        sum.actions++;
        if (a.kind == RFN_ACTION_SEND || a.kind == RFN_ACTION_SENDRECV)
            count_message(a.bytes);
    }

    void count_message(int64_t bytes)
    {
        sums[rank].sent++;
        sums[rank].bytes += static_cast<unsigned long long>(bytes);
    }

    void perform(const rfn_action &a)
    {
        switch (a.kind) {
        case RFN_ACTION_INIT:
        case RFN_ACTION_FINALIZE:
            break;
        case RFN_ACTION_COMPUTE:
            compute(a.volume);
            break;
        case RFN_ACTION_SLEEP:
            simgrid::s4u::this_actor::sleep_for(a.seconds);
            break;
        case RFN_ACTION_SEND:
            send_message(a);
            break;
        case RFN_ACTION_RECV:
            receive_message(a);
            break;
        case RFN_ACTION_PROBE:
            probe(a);
            break;
        case RFN_ACTION_TEST:
            if (a.n_requests)
                test(a.requests[0]);
            break;
        case RFN_ACTION_WAIT:
            wait(a.requests, a.n_requests);
            break;
        case RFN_ACTION_SENDRECV:
            send_and_receive(a);
            break;
        default:
            collective(a);
            break;
        }
    }

    void compute(double volume)
    {
        smpi_execute_flops(flops_of(volume));
    }

    double flops_of(double volume) const
    {
        rfn_action_unit unit = rfn_actions_unit(actions);
        bool is_time = unit == RFN_ACTION_CPU_NS || unit == RFN_ACTION_WALL_NS;
        double speed = simgrid::s4u::this_actor::get_host()->get_speed();
        double rate = options.rate > 0 ? options.rate
                      : is_time        ? speed
                                       : 1; /* of times: a second */
        rate *= is_time ? 1e-9 : 1;
        return volume * rate * options.scale;
    }

    void keep(int64_t number, MPI_Request request)
    {
        if (number < 0)
            nameless.requests.push_back(request);
        else
            requests[number].requests = {request};
    }

    void send_message(const rfn_action &a)
    {
        int to = rank_of(a.peer), tag = tag_of(a);
        if (a.blocks)
            send(a.bytes, to, tag, a.synchronous);
        else
            keep(a.request, post_send(a.bytes, to, tag, a.synchronous));
    }

    /* Waits until there is such a message; its bytes. SimGrid 3.32 crashes in a probe of any rank.
     */
    static int64_t probe(const rfn_action &a)
    {
        MPI_Status status;
        int n;
        if (a.peer == RFN_ACTION_ANY)
            die("SimGrid cannot look for a message of any rank (" + std::to_string(a.event) +
                "): name the rank, or the size");
        MPI_Probe(rank_of(a.peer), tag_of(a), MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &n);
        return n > 0 ? n : 0;
    }

    /* A receive of unknown size looks for its message first, as in SimGrid's replay. */
    static int64_t size_of(const rfn_action &a)
    {
        return a.bytes >= 0 ? a.bytes : probe(a);
    }

    void receive_message(const rfn_action &a)
    {
        int64_t bytes = size_of(a);
        if (a.blocks)
            receive(bytes, rank_or_any(a.peer), tag_of(a));
        else
            keep(a.request, post_receive(bytes, rank_or_any(a.peer), tag_of(a)));
    }

    void send_and_receive(const rfn_action &a)
    {
        Count out = count_of(a.bytes), in = count_of(a.receive_bytes > 0 ? a.receive_bytes : 0);
        MPI_Sendrecv(nowhere, out.n, out.type, rank_of(a.peer), tag_of(a), nowhere, in.n, in.type,
                     rank_or_any(a.receive_peer), tag_of(a.comm, a.receive_tag, false),
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }

    void finish(Posted &posted)
    {
        if (posted.requests.size() == 1)
            MPI_Wait(posted.requests.data(), MPI_STATUS_IGNORE);
        else
            MPI_Waitall(static_cast<int>(posted.requests.size()), posted.requests.data(),
                        MPI_STATUSES_IGNORE);
        if (posted.flops > 0)
            smpi_execute_flops(posted.flops);
    }

    /* For all of them; then the rank computes what is behind them. */
    void wait(const int64_t *numbers, size_t n)
    {
        Posted all;
        for (size_t i = 0; i < n; i++) {
            auto found = requests.find(numbers[i]);
            if (found == requests.end())
                continue;
            Posted &posted = found->second;
            all.requests.insert(all.requests.end(), posted.requests.begin(), posted.requests.end());
            all.flops += posted.flops;
            requests.erase(found);
        }
        if (!all.requests.empty())
            finish(all);
    }

    /* A request that is over becomes none, which the wait for it does not wait for. */
    void test(int64_t number)
    {
        auto found = requests.find(number);
        int flag;
        if (found == requests.end())
            return;
        std::vector<MPI_Request> &posted = found->second.requests;
        if (posted.size() == 1 && posted[0] != MPI_REQUEST_NULL)
            MPI_Test(posted.data(), &flag, MPI_STATUS_IGNORE);
        else if (posted.size() > 1)
            MPI_Testall(static_cast<int>(posted.size()), posted.data(), &flag, MPI_STATUSES_IGNORE);
    }

    void collective(const rfn_action &a)
    {
        uint32_t n = ranks;
        const int64_t *members = a.comm > 0 ? rfn_actions_comm(actions, a.comm, &n) : nullptr;
        if (a.comm > 0 && !members)
            die("the members of a communicator of rank " + std::to_string(rank) + " are not known");
        int error = rfn_collective_ops(options.collectives, &a, n, place(members, n), &ops);
        if (error)
            die("cannot make messages of a collective call of rank " + std::to_string(rank) + ": " +
                rfn_error_text(error));
        for (size_t i = 0; i < ops.n; i++)
            if (ops.ops[i].kind == RFN_COLL_SEND || ops.ops[i].kind == RFN_COLL_ISEND)
                count_message(ops.ops[i].bytes);
        bool replayed = a.comm == 0 && a.blocks && !options.messages &&
                        ranks > 1; /* one rank makes SMPI fail */
        if (!replayed || options.collectives != RFN_COLL_CHOICE_SIMGRID) {
            play(members, a);
            return;
        }
        try {
            replay(rank, ranks, a);
        } catch (
            const std::invalid_argument &) { /* SMPI chose alltoall for a power of two of ranks */
            play(members, a);
            return;
        }
        if (a.volume > 0)
            compute(a.volume);
    }

    uint32_t place(const int64_t *members, uint32_t n) const
    {
        if (!members)
            return rank;
        for (uint32_t i = 0; i < n; i++)
            if (members[i] == rank)
                return i;
        return n;
    }

    /* The operations of a call that blocks; else all that it posts becomes its request. */
    void play(const int64_t *members, const rfn_action &a)
    {
        Posted posted;
        for (size_t i = 0; i < ops.n; i++) {
            const rfn_coll_op &op = ops.ops[i];
            int peer = op.kind < RFN_COLL_WAIT ? peer_of(op, members) : 0;
            int tag = op.kind < RFN_COLL_WAIT ? tag_of(a.comm, op.tag, true) : 0;
            switch (op.kind) {
            case RFN_COLL_SEND:
                send(op.bytes, peer, tag, false);
                break;
            case RFN_COLL_RECV:
                receive(op.bytes, peer, tag);
                break;
            case RFN_COLL_ISEND:
                posted.requests.push_back(post_send(op.bytes, peer, tag, false));
                break;
            case RFN_COLL_IRECV:
                posted.requests.push_back(post_receive(op.bytes, peer, tag));
                break;
            case RFN_COLL_WAIT:
                if (a.blocks)
                    MPI_Waitall(static_cast<int>(op.n), &posted.requests[op.first],
                                MPI_STATUSES_IGNORE);
                break;
            case RFN_COLL_COMPUTE:
                if (a.blocks)
                    compute(op.volume);
                else
                    posted.flops += flops_of(op.volume);
                break;
            }
        }
        if (!a.blocks)
            requests[a.request] = std::move(posted);
    }

    static int peer_of(const rfn_coll_op &op, const int64_t *members)
    {
        if (op.peer == RFN_COLL_ANY)
            return MPI_ANY_SOURCE;
        return rank_of(members ? members[op.peer] : op.peer);
    }
};

void run_rank(uint32_t rank)
{
    smpi_replay_init("refrain", static_cast<int>(rank), 0);
    /* As in a replay, a message may be longer than its receive. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Rank(rank).run();
    smpi_replay_main(static_cast<int>(rank), "/dev/null");
}

/* ---- the program ---- */

double positive(const char *name, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (*end || !(value > 0))
        die(std::string(name) + " takes a number above 0, not \"" + text + "\"");
    return value;
}

void take_option(const std::string &name, const char *value)
{
    if (name == "--platform") {
        options.platform = value;
    } else if (name == "--hosts") {
        options.hosts = value;
    } else if (name == "--rate") {
        options.rate = positive("--rate", value);
    } else if (name == "--scale") {
        options.scale = positive("--scale", value);
    } else if (name == "--cfg") {
        options.settings.push_back(value);
    } else if (name == "--from") {
        options.from = value == std::string("thesis") ? RFN_TEXT_THESIS : RFN_TEXT_SIMGRID;
    } else if (name == "--collectives") {
        int which = rfn_coll_choice_named(value);
        if (which < 0)
            die(std::string("--collectives: simgrid, mpich, ompi, not \"") + value + "\"");
        options.collectives = static_cast<rfn_coll_choice>(which);
    } else {
        die("unknown option " + name);
    }
}

void take_arguments(int n, char **words)
{
    for (int i = 1; i < n; i++) {
        std::string word = words[i];
        if (word == "--")
            continue;
        if (word == "--measured")
            options.measured = true;
        else if (word == "--messages")
            options.messages = true;
        else if (word.compare(0, 2, "--") != 0)
            options.input = word;
        else if (i + 1 < n)
            take_option(word, words[++i]);
        else
            die(word + " takes a value");
    }
    if (options.platform.empty() || options.hosts.empty() || options.input.empty())
        die("usage: refrain-simgrid --platform FILE --hosts FILE [OPTION...] INPUT");
}

std::vector<std::string> read_hosts()
{
    std::ifstream file(options.hosts);
    std::vector<std::string> hosts;
    std::string line;
    while (std::getline(file, line))
        if (!line.empty())
            hosts.push_back(line);
    if (hosts.empty())
        die("cannot read hosts from " + options.hosts);
    return hosts;
}

/* An archive, else text. */
void open_actions(rfn_archive **archive)
{
    int error = rfn_archive_open(options.input.c_str(), archive, &diag);
    if (error == 0)
        error = rfn_actions_of_archive(*archive, options.measured, &actions, &diag);
    else if (error == RFN_E_CORRUPT || error == RFN_E_INCOMPLETE)
        error = rfn_actions_of_text(options.input.c_str(), options.from, &actions, &diag);
    if (error)
        die(diag.text, rfn_exit_status(error));
}

/* As smpirun sets SimGrid. */
std::vector<std::string> engine_words(const char *program)
{
    return {program, "--log=root.thres:warning", "--cfg=surf/precision:1e-9",
            "--cfg=network/model:SMPI", "--cfg=smpi/simulate-computation:no"};
}

void start_ranks(const std::vector<std::string> &hosts)
{
    uint32_t ranks = rfn_actions_ranks(actions);
    sums.assign(ranks, Sums{});
    SMPI_app_instance_register("refrain", nullptr, static_cast<int>(ranks));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const std::string &name = hosts[rank % hosts.size()];
        simgrid::s4u::Host *host = simgrid::s4u::Host::by_name_or_null(name);
        if (!host)
            die("platform " + options.platform + " has no host \"" + name + "\"");
        simgrid::s4u::ActorPtr actor = simgrid::s4u::Actor::init(std::to_string(rank), host);
        actor->set_property("instance_id", "refrain");
        actor->set_property("rank", std::to_string(rank));
        actor->start(run_rank, rank);
    }
}

void print_result()
{
    double last = 0;
    unsigned long long n_actions = 0;
    for (const Sums &rank : sums) {
        last = rank.end > last ? rank.end : last;
        n_actions += rank.actions;
    }
    printf("{\"engine\": \"simgrid\", \"simgrid\": \"%d.%d\", \"predicted_seconds\": %.17g, "
           "\"actions\": %llu, \"ranks\": [",
           SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR, last, n_actions);
    for (const Sums &rank : sums)
        printf("%s{\"end\": %.17g, \"compute\": %.17g, \"sleep\": %.17g, \"messages\": %.17g, "
               "\"actions\": %llu, \"sent\": %llu, \"bytes\": %llu}",
               &rank == sums.data() ? "" : ", ", rank.end, rank.compute, rank.sleep, rank.messages,
               rank.actions, rank.sent, rank.bytes);
    printf("]}\n");
}

/* SimGrid goes on when the ranks that are left wait for ever. */
void check_deadlock()
{
    for (size_t rank = 0; rank < sums.size(); rank++)
        if (!sums[rank].done)
            die("a deadlock: rank " + std::to_string(rank) + " waits for ever in " +
                    rfn_action_name(sums[rank].kind) + " (" + std::to_string(sums[rank].event) +
                    ")",
                RFN_EXIT_BAD_INPUT);
}

void simulate(const char *program)
{
    rfn_archive *archive = nullptr;
    std::vector<std::string> words = engine_words(program);
    std::vector<char *> pointers;
    for (std::string &word : words)
        pointers.push_back(&word[0]);
    int n = static_cast<int>(pointers.size());
    pointers.push_back(nullptr);
    simgrid::s4u::Engine engine(&n, pointers.data());
    SMPI_init();
    for (const std::string &setting : options.settings)
        simgrid::s4u::Engine::set_config(setting); /* SMPI_init made smpi/os and others known */
    engine.load_platform(options.platform);
    open_actions(&archive);
    start_ranks(read_hosts());
    engine.run();
    check_deadlock();
    SMPI_finalize();
    print_result();
    rfn_actions_free(actions);
    rfn_archive_close(archive);
}

} // namespace

int main(int n, char **words)
{
    take_arguments(n, words);
    try {
        simulate(words[0]);
    } catch (const std::exception &exception) {
        std::string text = exception.what();
        die("SimGrid: " + text.substr(0, text.find('\n')));
    }
    return 0;
}
