/* mpi_calibrate.c - the program that measures the network between two ranks, one for each MPI:
 * `refrain calibrate` becomes it.
 *
 * The first and the last rank measure (mpi_experiments.h), the others sleep. Each round does every
 * experiment once or a few times, and of each the shortest counts: what else the machine does only
 * ever takes longer. Rounds go on until the time is over.
 *
 * Words are FILE --force --seconds=S. `refrain calibrate` has checked them; under SMPI they are the
 * user's own.
 */
#define _POSIX_C_SOURCE 200809L /* open's flags, isatty */
#include "calibrate/measured.h"
#include "calibrate/mpi_experiments.h"
#include "calibrate/sizes.h"

#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_BAD_USAGE = 2 }; /* as all commands have it */
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
    FIRST_ROUND_MORE = 60 /* seconds */
};

struct words {
    const char *file;
    bool force;
    double seconds;
};

/* ---- before ---- */

static int usage(const char *format, const char *word)
{
    fprintf(stderr, "refrain: ");
    fprintf(stderr, format, word);
    fputc('\n', stderr);
    return EXIT_BAD_USAGE;
}

/* 0, or the exit status after telling. */
static int parse(struct words *words, int argc, char **argv)
{
    *words = (struct words){.seconds = 6};
    for (int i = 1; i < argc; i++) {
        char *end;
        if (strcmp(argv[i], "--force") == 0) {
            words->force = true;
        } else if (strncmp(argv[i], "--seconds=", 10) == 0) {
            words->seconds = strtod(argv[i] + 10, &end);
            if (*end || !(words->seconds > 0 && words->seconds <= 3600))
                return usage("--seconds is more than 0 and at most 3600, not '%s'", argv[i] + 10);
        } else if (argv[i][0] == '-' || words->file) {
            return usage("words are FILE, --force and --seconds=S, and not '%s'", argv[i]);
        } else {
            words->file = argv[i];
        }
    }
    return words->file ? 0 : usage("%s is to be named, which is written", "a file");
}

static int cannot_write(const char *file)
{
    fprintf(stderr, "refrain: cannot write %s: %s; name another place with -o\n", file,
            strerror(errno));
    return EXIT_FAILURE;
}

/* Whether the file can be written: asked before anything is measured. */
static int check_file(const struct words *words)
{
    int fd = open(words->file, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0) {
        close(fd);
        unlink(words->file);
        return 0;
    }
    if (errno != EEXIST || (words->force && access(words->file, W_OK) != 0))
        return cannot_write(words->file);
    if (words->force)
        return 0;
    fprintf(stderr, "refrain: %s exists already; --force replaces it\n", words->file);
    return EXIT_FAILURE;
}

static int check(struct words *words, int argc, char **argv, int ranks)
{
    int status = parse(words, argc, argv);
    if (status)
        return status;
    if (ranks < 2)
        return usage("a network is measured between two ranks, and this job has one: "
                     "mpirun -n 2 refrain calibrate -o %s",
                     words->file);
    return check_file(words);
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

struct measuring {
    struct cal_pair pair;
    int64_t begin_ns;
    double seconds; /* it is to take */
    int64_t eager_bytes;
    struct cal_shortest shortest;
    struct cal_point points[CAL_MOST_SIZES];
    size_t n;
    int shown; /* per cent */
    uint64_t random;
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

static void measure_trains(struct measuring *of)
{
    enum { PAUSE_NS = 500000 };
    struct cal_shortest *shortest = &of->shortest;
    for (int i = 0; i < TRAINS; i++) {
        struct cal_train train = cal_send_train(&of->pair, SHORT_TRAIN, 0);
        shortest->send = fmin(shortest->send, train.send_ns);
        shortest->short_train = fmin(shortest->short_train, train.all_ns);
        train = cal_send_train(&of->pair, LONG_TRAIN, 0);
        shortest->long_train = fmin(shortest->long_train, train.all_ns);
        train = cal_send_train(&of->pair, SHORT_TRAIN, PAUSE_NS);
        shortest->receive = fmin(shortest->receive, train.receive_ns);
    }
}

/* Measures all sizes once more; false: the time is over. */
static bool measure_round(struct measuring *of, int round)
{
    size_t order[CAL_MOST_SIZES];
    measure_trains(of);
    cal_shuffle(order, of->n, &of->random);
    for (size_t i = 0; i < of->n; i++) {
        struct cal_point *point = &of->points[order[i]];
        const int64_t fit = (INT64_C(1) << 20) / point->bytes;
        const int n = round && fit > 2 ? (int)(fit < 16 ? fit : 16) : 2;
        point->ns = fmin(point->ns, cal_send_back_and_forth(&of->pair, point->bytes, n));
        show_progress(of);
        if (!SIMULATED && elapsed(of) > of->seconds + (round ? 0 : FIRST_ROUND_MORE))
            return false;
    }
    return !SIMULATED && elapsed(of) < of->seconds;
}

/* Sizes for which there was no time are left out. false: that is most of them. */
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
        of->points[i] = (struct cal_point){bytes[i], INFINITY};
    for (int round = 0; measure_round(of, round); round++)
        ;
    cal_lead_ends(&of->pair);
    if (of->shown >= 0)
        fputs("\r               \r", stderr);
    for (size_t i = 0; i < of->n; i++) {
        if (isfinite(of->points[i].ns))
            of->points[measured++] = of->points[i];
    }
    of->n = measured;
    return measured >= LEAST_POINTS;
}

/* ---- after ---- */

static int write_file(const struct words *words, const struct cal_measured *measured)
{
    FILE *out = fopen(words->file, words->force ? "w" : "wx");
    if (!out)
        return cannot_write(words->file);
    int error = cal_measured_write(measured, out);
    if ((fclose(out) != 0 && !error) || error == RFN_E_IO)
        return cannot_write(words->file);
    if (error < 0)
        fprintf(stderr, "refrain: %s: %s\n", words->file, rfn_error_text(error));
    return error < 0 ? EXIT_FAILURE : 0;
}

static int lead(const struct cal_pair *pair, const struct words *words,
                struct cal_measured *measured)
{
    struct measuring measuring = {.pair = *pair, .seconds = words->seconds, .shown = -1};
    if (!measure(&measuring)) {
        fprintf(stderr,
                "refrain: only %zu sizes of messages could be measured in %g s; give it more "
                "time: --seconds=%g\n",
                measuring.n, elapsed(&measuring), 10 * words->seconds);
        return EXIT_FAILURE;
    }
    cal_measured_fit(measured, measuring.points, measuring.n, &measuring.shortest,
                     measuring.eager_bytes);
    int status = write_file(words, measured);
    if (status)
        return status;
    printf("%s: ", words->file);
    cal_measured_print(measured, stdout);
    return fflush(stdout) ? EXIT_FAILURE : 0;
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
    int length, mine = !measures || make_room(&pair), enough, status = EXIT_FAILURE;
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
        status = lead(&pair, words, &measured);
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
