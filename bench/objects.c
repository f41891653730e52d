/* objects KIND ALIVE MADE: one rank keeps ALIVE objects of MPI, then makes and frees MADE further
 * ones, and prints how many ns of CPU time that took in the first and the last tenth, per object.
 * KIND: types, new-types (no two alike), requests, comms, windows, groups. The
 * loop alone is seen by callgrind with --instr-atstart=no. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

union object {
    MPI_Datatype type;
    MPI_Request request;
    MPI_Comm comm;
    MPI_Win win;
    MPI_Group group;
};

static char byte;

static void make_type(union object *object, int number)
{
    (void)number;
    MPI_Type_contiguous(4, MPI_CHAR, &object->type);
}

static void make_new_type(union object *object, int number)
{
    MPI_Type_contiguous(number + 1, MPI_CHAR, &object->type);
}

static void free_type(union object *object)
{
    MPI_Type_free(&object->type);
}

static void make_request(union object *object, int number)
{
    MPI_Irecv(&byte, 1, MPI_CHAR, 0, number % 30000, MPI_COMM_SELF, &object->request);
}

static void free_request(union object *object)
{
    MPI_Cancel(&object->request);
    MPI_Wait(&object->request, MPI_STATUS_IGNORE);
}

static void make_comm(union object *object, int number)
{
    (void)number;
    MPI_Comm_dup(MPI_COMM_SELF, &object->comm);
}

static void free_comm(union object *object)
{
    MPI_Comm_free(&object->comm);
}

static void make_win(union object *object, int number)
{
    (void)number;
    MPI_Win_create(&byte, 1, 1, MPI_INFO_NULL, MPI_COMM_SELF, &object->win);
}

static void free_win(union object *object)
{
    MPI_Win_free(&object->win);
}

static void make_group(union object *object, int number)
{
    (void)number;
    MPI_Comm_group(MPI_COMM_WORLD, &object->group);
}

static void free_group(union object *object)
{
    MPI_Group_free(&object->group);
}

static const struct kind {
    const char *name;
    void (*make)(union object *, int);
    void (*free)(union object *);
} kinds[] = {{"types", make_type, free_type},          {"new-types", make_new_type, free_type},
             {"requests", make_request, free_request}, {"comms", make_comm, free_comm},
             {"windows", make_win, free_win},          {"groups", make_group, free_group}};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* The first one goes and comes, and a further one, so that free slots lie first and last. */
static double make_and_free(const struct kind *kind, union object *alive, int n_alive, int first,
                            int made)
{
    const double begin = now_ns();
    union object further;
    for (int i = 0; i < made; i += 2) {
        if (n_alive)
            kind->free(&alive[0]);
        kind->make(&alive[0], first + i);
        kind->make(&further, first + i + 1);
        kind->free(&further);
        if (!n_alive)
            kind->free(&alive[0]);
    }
    return (now_ns() - begin) / made;
}

int main(int argc, char **argv)
{
    const struct kind *kind = kinds, *end = kinds + sizeof kinds / sizeof *kinds;
    MPI_Init(&argc, &argv);
    while (argc == 4 && kind < end && strcmp(kind->name, argv[1]) != 0)
        kind++;
    const int n_alive = argc == 4 ? atoi(argv[2]) : 0, made = argc == 4 ? atoi(argv[3]) : 0;
    if (argc != 4 || kind == end || made < 20)
        MPI_Abort(MPI_COMM_WORLD, 2);
    union object *alive = calloc((size_t)n_alive + 1, sizeof *alive);
    for (int i = 0; i < n_alive; i++)
        kind->make(&alive[i], i);
    const int tenth = made / 10;
    CALLGRIND_START_INSTRUMENTATION;
    const double first = make_and_free(kind, alive, n_alive, n_alive, tenth);
    make_and_free(kind, alive, n_alive, n_alive + tenth, made - 2 * tenth);
    const double last = make_and_free(kind, alive, n_alive, n_alive + made - tenth, tenth);
    CALLGRIND_STOP_INSTRUMENTATION;
    printf("%s: %d alive, %d made: first %.0f ns, last %.0f ns\n", kind->name, n_alive, made, first,
           last);
    for (int i = 0; i < n_alive; i++)
        kind->free(&alive[i]);
    free(alive);
    MPI_Finalize();
    return 0;
}
