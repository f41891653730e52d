/* mpi_calibrate.c - the program that measures the network between two ranks, one for each MPI:
 * `refrain calibrate` becomes it.
 *
 * The first and the last rank measure (mpi_experiments.h), the others sleep. Each round does every
 * experiment once or a few times, and of each the shortest counts: what else the machine does only
 * ever takes longer. Rounds go on until the time is over. A platform that is to be written is
 * compared with the measurements: sizes that it misses are measured again, in vain only so often.
 *
 * Words are FILE --platform=FILE --hosts=N --cores=N --speed=F --force --seconds=S, and one of the
 * files. `refrain calibrate` has checked them; under SMPI they are the user's own.
 */
#define _POSIX_C_SOURCE 200809L /* isatty, sysconf */
#include "base/part_file.h"
#include "calibrate/measured.h"
#include "calibrate/mpi_experiments.h"
#include "calibrate/network_model.h"
#include "calibrate/platform_file.h"
#include "calibrate/sizes.h"
#include "refrain/text.h"

#include <mpi.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHORT_TRAIN = 8, LONG_TRAIN = CAL_MOST_TRAIN, TRAINS = 4 };
#ifdef RFN_SIMULATED /* time is exact, and costs nothing */
enum { SIMULATED = 1 };
#else
enum { SIMULATED = 0 };
#endif
enum {
    TRIES = SIMULATED ? 1 : 6,
    LEAST_POINTS = 16,
    POLL_NS = 10000000,
    FIRST_ROUND_MORE = 60, /* seconds */
    TIMES_AGAIN = SIMULATED ? 0 : 3
};

struct words {
    const char *file, *platform; /* NULL: is not written */
    bool force;
    double seconds, speed;
    unsigned hosts, cores; /* 0: as many as ranks; as this host has */
};

/* ---- before ---- */

static int usage(const char *format, const char *word)
{
    fprintf(stderr, "refrain: ");
    fprintf(stderr, format, word);
    fputc('\n', stderr);
    return RFN_EXIT_USAGE;
}

/* Whether the word begins with the option; *value is what follows. */
static bool is_option(const char *word, const char *option, const char **value)
{
    const size_t n = strlen(option);
    *value = word + n;
    return strncmp(word, option, n) == 0;
}

static bool read_number(const char *text, double most, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && !*end && *number > 0 && *number <= most;
}

static bool read_count(const char *text, unsigned *count)
{
    double number;
    if (!read_number(text, 1 << 20, &number) || number != floor(number))
        return false;
    *count = (unsigned)number;
    return true;
}

/* 0, or the exit status after telling. */
static int parse(struct words *words, int argc, char **argv)
{
    *words = (struct words){.seconds = 6, .speed = 1e9};
    for (int i = 1; i < argc; i++) {
        const char *value;
        bool fits = true;
        if (strcmp(argv[i], "--force") == 0)
            words->force = true;
        else if (is_option(argv[i], "--platform=", &value))
            words->platform = value;
        else if (is_option(argv[i], "--seconds=", &value))
            fits = read_number(value, 3600, &words->seconds);
        else if (is_option(argv[i], "--speed=", &value))
            fits = read_number(value, 1e18, &words->speed);
        else if (is_option(argv[i], "--hosts=", &value))
            fits = read_count(value, &words->hosts);
        else if (is_option(argv[i], "--cores=", &value))
            fits = read_count(value, &words->cores);
        else if (argv[i][0] != '-' && !words->file)
            words->file = argv[i];
        else
            fits = false;
        if (!fits)
            return usage("words are FILE, --platform=FILE, --hosts=N, --cores=N, --speed=F, "
                         "--force and --seconds=S, and not '%s'",
                         argv[i]);
    }
    return words->file || words->platform ? 0
                                          : usage("%s is to be named, which is written", "a file");
}

static int cannot_write(const char *file)
{
    fprintf(stderr, "refrain: cannot write %s: %s; name another place with -o\n", file,
            strerror(errno));
    return RFN_EXIT_FAILURE;
}

/* A file that is written: an old one stays until it is whole. NULL with errno. */
static FILE *open_new(const char *file, bool force)
{
    char *part = rfn_part_path(file, force);
    FILE *out = part ? fopen(part, force ? "w" : "wx") : NULL;
    free(part);
    return out;
}

/* Whether the file can be written: asked before anything is measured. */
static int check_file(const char *file, bool force)
{
    FILE *out = file ? open_new(file, force) : NULL;
    if (!file)
        return 0;
    if (!out && errno != EEXIST)
        return cannot_write(file);
    if (out) {
        fclose(out);
        rfn_part_remove(file, force);
        return 0;
    }
    fprintf(stderr, "refrain: %s exists already; --force replaces it\n", file);
    return RFN_EXIT_FAILURE;
}

static int check(struct words *words, int argc, char **argv, int ranks)
{
    int status = parse(words, argc, argv);
    if (status)
        return status;
    if (ranks < 2)
        return usage("a network is measured between two ranks, and this job has one: "
                     "mpirun -n 2 refrain calibrate -o %s",
                     words->file ? words->file : words->platform);
    status = check_file(words->file, words->force);
    return status ? status : check_file(words->platform, words->force);
}

/* The messages are there when the first one is sent. */
static bool make_room(struct cal_pair *pair)
{
    char **const all[] = {&pair->sent, &pair->received, &pair->received2};
    bool enough = true;
    for (int i = 0; i < 3; i++) {
        *all[i] = malloc(CAL_MOST_BYTES);
        enough &= *all[i] != NULL;
        if (*all[i])
            memset(*all[i], i + 1, CAL_MOST_BYTES);
    }
    return enough;
}

/* ---- the experiments ---- */

/* What a platform needs beside the points, by their numbers. */
struct samples {
    struct cal_samples halves[CAL_MOST_SIZES], sends[CAL_MOST_SIZES], isends[CAL_MOST_SIZES],
        receives[CAL_MOST_SIZES], late_receives[CAL_MOST_SIZES];
    double exchange_ns[2]; /* of EXCHANGE_BYTES and LARGE_EXCHANGE_BYTES */
};

enum { EXCHANGE_BYTES = 1 << 20, LARGE_EXCHANGE_BYTES = 4 << 20 };

struct measuring {
    struct cal_pair pair;
    int64_t begin_ns;
    double seconds; /* it is to take */
    int64_t eager_bytes;
    struct cal_shortest shortest;
    struct cal_point points[CAL_MOST_SIZES];
    size_t n;  /* points */
    int shown; /* per cent */
    uint64_t random;
    struct samples *samples; /* NULL: no platform is wanted */
};

static double elapsed(const struct measuring *of)
{
    return (double)(cal_now_ns() - of->begin_ns) * 1e-9;
}

/* On a terminal. */
static void show_progress(struct measuring *of)
{
    const int percent = (int)fmin(elapsed(of) / of->seconds * 100, 100);
    if (percent == of->shown || !isatty(STDERR_FILENO))
        return;
    of->shown = percent;
    fprintf(stderr, "\rmeasuring %3d %%", percent);
}

/* A rank that was kept from its core, and so took long to send, has twice the time in the next try.
 */
static bool is_eager(const struct measuring *of, int64_t bytes)
{
    const double pause = SIMULATED ? 1 : fmin(fmax(of->seconds / 3000, 0.0005), 0.002);
    int64_t pause_ns = (int64_t)(pause * 1e9);
    for (int i = 0; i < TRIES; i++, pause_ns *= 2) {
        if (cal_send_early(&of->pair, bytes, pause_ns))
            return true;
    }
    return false;
}

/* The largest message from `eager` on that a send does not wait with for its receive. */
static int64_t find_eager_from(const struct measuring *of, int64_t eager)
{
    int64_t waits = eager + 1;
    while (waits <= CAL_MOST_BYTES && is_eager(of, waits)) {
        eager = waits;
        waits *= 2;
    }
    while (waits <= CAL_MOST_BYTES && waits - eager > 1) {
        const int64_t middle = eager + (waits - eager) / 2;
        if (is_eager(of, middle))
            eager = middle;
        else
            waits = middle;
    }
    return eager;
}

/* A size that seemed to wait, because a rank was kept from its core, is found out when the next one
 * is tried again. */
static int64_t find_eager(const struct measuring *of)
{
    enum { MOST_SEARCHES = 10 };
    int64_t eager = find_eager_from(of, 0);
    for (int i = 1; i < MOST_SEARCHES && eager < CAL_MOST_BYTES && is_eager(of, eager + 1); i++)
        eager = find_eager_from(of, eager + 1);
    return eager;
}

enum { PAUSE_NS = 500000 }; /* in which small messages come */

static void measure_trains(struct measuring *of)
{
    struct cal_shortest *shortest = &of->shortest;
    for (int i = 0; i < TRAINS; i++) {
        struct cal_train train = cal_send_train(&of->pair, SHORT_TRAIN, 1, 0);
        shortest->send = fmin(shortest->send, train.send_ns);
        shortest->short_train = fmin(shortest->short_train, train.all_ns);
        train = cal_send_train(&of->pair, LONG_TRAIN, 1, 0);
        shortest->long_train = fmin(shortest->long_train, train.all_ns);
        train = cal_send_train(&of->pair, SHORT_TRAIN, 1, PAUSE_NS);
        shortest->receive = fmin(shortest->receive, train.receive_ns);
    }
}

/* A size of which round trips were measured: what its calls take. */
static void measure_calls(struct measuring *of, size_t i, const struct cal_round_trip *trip)
{
    struct samples *samples = of->samples;
    const int64_t bytes = of->points[i].bytes;
    cal_samples_add(&samples->halves[i], trip->half_ns);
    cal_samples_add(&samples->isends[i],
                    cal_send_back_and_forth(&of->pair, bytes, 2, true).send_ns);
    if (bytes > of->eager_bytes)
        return;
    cal_samples_add(&samples->sends[i], trip->send_ns);
    cal_samples_add(&samples->receives[i],
                    cal_send_train(&of->pair, 1, bytes, PAUSE_NS).receive_ns);
    cal_samples_add(&samples->late_receives[i], cal_receive_late(&of->pair, bytes, PAUSE_NS));
}

static void measure_exchanges(struct measuring *of)
{
    double *ns = of->samples->exchange_ns;
    ns[0] = fmin(ns[0], cal_exchange(&of->pair, EXCHANGE_BYTES, 4));
    ns[1] = fmin(ns[1], cal_exchange(&of->pair, LARGE_EXCHANGE_BYTES, 2));
}

static void measure_size(struct measuring *of, size_t i, int round)
{
    struct cal_point *point = &of->points[i];
    const int64_t fit = (INT64_C(1) << 20) / point->bytes;
    const int n = round && fit > 2 ? (int)(fit < 16 ? fit : 16) : 2;
    const struct cal_round_trip trip = cal_send_back_and_forth(&of->pair, point->bytes, n, false);
    point->ns = fmin(point->ns, trip.half_ns);
    if (of->samples)
        measure_calls(of, i, &trip);
    show_progress(of);
}

/* Measures all sizes once more; false: the time is over. */
static bool measure_round(struct measuring *of, int round)
{
    size_t order[CAL_MOST_SIZES];
    measure_trains(of);
    if (of->samples)
        measure_exchanges(of);
    cal_shuffle(order, of->n, &of->random);
    for (size_t i = 0; i < of->n; i++) {
        measure_size(of, order[i], round);
        if (!SIMULATED && elapsed(of) > of->seconds + (round ? 0 : FIRST_ROUND_MORE))
            return false;
    }
    return !SIMULATED && elapsed(of) < of->seconds;
}

/* Forgets what these sizes took, and measures them for a third of the time. */
static void measure_again(struct measuring *of, const struct cal_misfit *misfits, size_t n)
{
    enum { LEAST_ROUNDS = 2 };
    struct samples *samples = of->samples;
    const double end = elapsed(of) + of->seconds / 3;
    for (size_t i = 0; i < n; i++) {
        const size_t size = misfits[i].size;
        samples->halves[size].n = samples->sends[size].n = samples->isends[size].n =
            samples->receives[size].n = samples->late_receives[size].n = 0;
    }
    for (int round = 1; round <= LEAST_ROUNDS || elapsed(of) < end; round++) {
        for (size_t i = 0; i < n; i++)
            measure_size(of, misfits[i].size, round);
    }
}

static void begin_size(struct measuring *of, size_t i, int64_t bytes)
{
    struct samples *samples = of->samples;
    of->points[i] = (struct cal_point){bytes, INFINITY};
    if (samples)
        samples->halves[i].bytes = samples->sends[i].bytes = samples->isends[i].bytes =
            samples->receives[i].bytes = samples->late_receives[i].bytes = bytes;
}

/* false: for most sizes there was no time. */
static bool measure(struct measuring *of)
{
    int64_t bytes[CAL_MOST_SIZES];
    size_t measured = 0;
    of->begin_ns = cal_now_ns();
    of->random = (uint64_t)of->begin_ns;
    of->eager_bytes = find_eager(of);
    of->shortest = (struct cal_shortest){INFINITY, INFINITY,    INFINITY,
                                         INFINITY, SHORT_TRAIN, LONG_TRAIN};
    of->n = cal_sizes(bytes, of->eager_bytes, &of->random);
    for (size_t i = 0; i < of->n; i++)
        begin_size(of, i, bytes[i]);
    for (int round = 0; measure_round(of, round); round++)
        ;
    for (size_t i = 0; i < of->n; i++)
        measured += isfinite(of->points[i].ns) ? 1 : 0;
    return measured >= LEAST_POINTS;
}

/* Sizes for which there was no time go. */
static void leave_out(struct measuring *of)
{
    size_t measured = 0;
    for (size_t i = 0; i < of->n; i++) {
        if (isfinite(of->points[i].ns))
            of->points[measured++] = of->points[i];
    }
    of->n = measured;
}

static void end_progress(const struct measuring *of)
{
    if (of->shown >= 0)
        fputs("\r               \r", stderr);
}

/* ---- the platform's model ---- */

static struct cal_messages messages_of(const struct measuring *of)
{
    const struct samples *samples = of->samples;
    return (struct cal_messages){.halves = samples->halves,
                                 .sends = samples->sends,
                                 .isends = samples->isends,
                                 .receives = samples->receives,
                                 .late_receives = samples->late_receives,
                                 .n_sizes = of->n,
                                 .detached_bytes = of->eager_bytes,
                                 .exchange_bytes = {EXCHANGE_BYTES, LARGE_EXCHANGE_BYTES},
                                 .exchange_ns = {samples->exchange_ns[0], samples->exchange_ns[1]}};
}

static int refuse(const struct words *words, const struct measuring *of,
                  const struct cal_misfit *worst, size_t n)
{
    end_progress(of);
    fprintf(stderr,
            "refrain: cannot write %s: measurements contradict each other. Messages of %lld bytes "
            "took %s, and on the platform that fits best %s; %zu of %zu sizes are off by more than "
            "%.0f %%. Give each of the two ranks a core of its own, and more time: --seconds=%g\n",
            words->platform, (long long)of->points[worst->size].bytes,
            rfn_time_text((int64_t)(worst->measured_ns + 0.5)).text,
            rfn_time_text((int64_t)(worst->written_ns + 0.5)).text, n, of->n, 100 * CAL_MOST_OFF,
            10 * words->seconds);
    return RFN_EXIT_FAILURE;
}

/* Fits the model; 0, or the exit status after telling why there is none. */
static int fit_model(struct measuring *of, const struct words *words,
                     struct cal_network_model *model)
{
    struct cal_misfit misfits[CAL_MOST_SIZES];
    for (int times = 0;; times++) {
        const struct cal_messages messages = messages_of(of);
        cal_network_model_fit(model, &messages);
        if (!model->network.n) {
            end_progress(of);
            fprintf(stderr, "refrain: out of memory\n");
            return RFN_EXIT_FAILURE;
        }
        const size_t n = cal_platform_misfits(model, &messages, misfits);
        if (!n)
            return 0;
        if (times == TIMES_AGAIN)
            return refuse(words, of, misfits, n);
        measure_again(of, misfits, n);
    }
}

/* ---- after ---- */

/* error: of what was written. 0, or the exit status after telling. */
static int close_new(FILE *out, const char *file, bool force, int error)
{
    const bool closed = fclose(out) == 0 && error != RFN_E_IO;
    if (closed && error >= 0 && rfn_part_place(file, force) == 0)
        return 0;
    const int status = !closed || error >= 0 ? cannot_write(file) : RFN_EXIT_FAILURE;
    if (closed && error < 0)
        fprintf(stderr, "refrain: %s: %s\n", file, rfn_error_text(error));
    rfn_part_remove(file, force);
    return status;
}

static int write_file(const struct words *words, const struct cal_measured *measured)
{
    FILE *out = open_new(words->file, words->force);
    if (!out)
        return cannot_write(words->file);
    return close_new(out, words->file, words->force, cal_measured_write(measured, out));
}

static int write_platform(const struct words *words, const struct cal_pair *pair,
                          const struct cal_network_model *model, int ranks)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const struct cal_cluster cluster = {.hosts = words->hosts ? words->hosts : (unsigned)ranks,
                                        .cores = words->cores ? words->cores
                                                 : cores > 0  ? (unsigned)cores
                                                              : 1,
                                        .speed = words->speed,
                                        .on_one_node = pair->on_one_node};
    FILE *out = open_new(words->platform, words->force);
    if (!out)
        return cannot_write(words->platform);
    const int status = close_new(out, words->platform, words->force,
                                 cal_platform_write(model, &cluster, out));
    if (status)
        return status;
    printf("%s: a cluster of %u hosts; refrain predict FILE --platform %s\n", words->platform,
           cluster.hosts, words->platform);
    return fflush(stdout) ? RFN_EXIT_FAILURE : 0;
}

static int lead(const struct cal_pair *pair, const struct words *words, int ranks,
                struct cal_measured *measured)
{
    struct measuring measuring = {.pair = *pair, .seconds = words->seconds, .shown = -1};
    struct cal_network_model model;
    int status = 0;
    if (words->platform)
        measuring.samples = calloc(1, sizeof *measuring.samples);
    if (words->platform && !measuring.samples) {
        fprintf(stderr, "refrain: out of memory\n");
        cal_lead_ends(pair);
        return RFN_EXIT_FAILURE;
    }
    if (measuring.samples)
        measuring.samples->exchange_ns[0] = measuring.samples->exchange_ns[1] = INFINITY;
    const bool enough = measure(&measuring);
    if (enough && words->platform)
        status = fit_model(&measuring, words, &model);
    cal_lead_ends(pair);
    end_progress(&measuring);
    leave_out(&measuring);
    free(measuring.samples);
    if (!enough) {
        fprintf(stderr,
                "refrain: only %zu sizes of messages could be measured in %g s; give it more "
                "time: --seconds=%g\n",
                measuring.n, elapsed(&measuring), 10 * words->seconds);
        return RFN_EXIT_FAILURE;
    }
    if (words->platform && !status)
        status = write_platform(words, pair, &model, ranks);
    cal_measured_fit(measured, measuring.points, measuring.n, &measuring.shortest,
                     measuring.eager_bytes);
    if (status || !words->file)
        return status;
    status = write_file(words, measured);
    if (status)
        return status;
    printf("%s: ", words->file);
    cal_measured_print(measured, stdout);
    return fflush(stdout) ? RFN_EXIT_FAILURE : 0;
}

/* ---- all ranks ---- */

/* The status that rank 0 has, later; who waits for it sleeps, and leaves the core to others. */
static int status_of_first(int status)
{
    MPI_Request request;
    int done = 0;
    PMPI_Ibcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    for (;;) {
        PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return status;
        cal_sleep(POLL_NS);
    }
}

static int calibrate(const struct words *words, int rank, int ranks)
{
    enum { NAME = MPI_MAX_PROCESSOR_NAME + 1 };
    struct cal_pair pair = {.other = rank == 0 ? ranks - 1 : 0};
    const bool measures = rank == 0 || rank == ranks - 1;
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "", hosts[2][NAME] = {"", ""};
    int length, mine = !measures || make_room(&pair), enough, status = RFN_EXIT_FAILURE;
    PMPI_Get_processor_name(hosts[0], &length);
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = 0;
    for (char *c = version; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    PMPI_Allreduce(&mine, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (measures)
        PMPI_Sendrecv(hosts[0], NAME, MPI_CHAR, pair.other, 0, hosts[1], NAME, MPI_CHAR, pair.other,
                      0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pair.on_one_node = !SIMULATED && strcmp(hosts[0], hosts[1]) == 0;
    struct cal_measured measured = {.mpi = version,
                                    .flavour = RFN_FLAVOUR_NAME,
                                    .hosts = {hosts[0], hosts[1]},
                                    .ranks = {0, ranks - 1}};
    if (!enough && rank == 0)
        fprintf(stderr, "refrain: out of memory for messages of %lld bytes\n",
                (long long)CAL_MOST_BYTES);
    else if (enough && rank == 0)
        status = lead(&pair, words, ranks, &measured);
    else if (enough && measures)
        cal_serve(&pair);
    free(pair.sent);
    free(pair.received);
    free(pair.received2);
    return status_of_first(status);
}

/* SMPI looks it up. */
__attribute__((visibility("default"))) int main(int argc, char **argv)
{
    struct words words;
    int rank, ranks, status = 0;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        status = check(&words, argc, argv, ranks);
    PMPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status == 0)
        status = calibrate(&words, rank, ranks);
    MPI_Finalize();
    return status;
}
