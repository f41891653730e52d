/* Processes that start others and connect to others; parent and child in one program. For 2
 * parents.
 *
 *   spawn one COMMAND [FOLDER]   rank 0 starts three children, which work in the folder
 *   spawn several A B          rank 1 starts two children of A and one of B
 *   spawn each COMMAND         each parent starts one child on its own, twice, one after the other
 *   spawn missing              a command that is not there: an error that the program handles
 *   ... child N                a child, of N
 *   spawn port                 two processes connect through a port, nobody is started
 *   spawn join                 two processes connect through a socket
 *   spawn serve FILE           one process; its port goes to the file
 *   spawn visit FILE           one process of another job, which connects to that port
 */
#include "expect.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Arguments that must reach the child as they are. */
static char *child_arguments(char *argv[16], char *count)
{
    char *words[] = {"child", count, "", "two words", "-o", "--force", "--", "x:y", NULL};
    memcpy(argv, words, sizeof words);
    return count;
}

static int check_arguments(int argc, char **argv)
{
    char *wanted[16];
    child_arguments(wanted, argv[2]);
    for (int i = 0; wanted[i]; i++) {
        if (i + 1 >= argc || strcmp(argv[i + 1], wanted[i]) != 0)
            return 1;
    }
    return argc != 9;
}

/* ---- children ---- */

static int child(int argc, char **argv)
{
    int rank, size, one = 1, sum = 0, data[9] = {0};
    MPI_Comm parent, merged;
    char *out = getenv("EXPECT_OUT"), path[4096];
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_get_parent(&parent), "parent=@parent");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    CALL(MPI_Comm_size(MPI_COMM_WORLD, &size), "comm=world size=%s", argv[2]);
    CALL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "comm=world");
    if (rank == size - 1)
        CALL(MPI_Recv(data, 9, MPI_INT, 0, 4, parent, MPI_STATUS_IGNORE),
             "source=0 tag=4 bytes=36 comm=@parent");
    CALL(MPI_Intercomm_merge(parent, 1, &merged), "intercomm=@parent newintracomm=@merged");
    CALL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged), "comm=@merged");
    CALL(MPI_Comm_free(&merged), "comm=@merged");
    CALL(MPI_Comm_disconnect(&parent), "comm=@parent");
    if (rank == 0) {
        printf("children %d, all %d, arguments %s\n", size, sum,
               check_arguments(argc, argv) == 0 ? "right" : "wrong");
        fflush(stdout);
    }
    if (out) {
        snprintf(path, sizeof path, "%s-child", out);
        setenv("EXPECT_OUT", path, 1);
    }
    return expect_finalize(rank);
}

/* ---- parents ---- */

static void talk(MPI_Comm children, int last, bool sends)
{
    int one = 1, sum, data[9] = {0};
    MPI_Comm merged;
    if (sends)
        CALL(MPI_Send(data, 9, MPI_INT, last, 4, children), "dest=%d tag=4 bytes=36", last);
    CALL(MPI_Intercomm_merge(children, 0, &merged), "newintracomm=*");
    CALL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged), "bytes=4");
    CALL(MPI_Comm_free(&merged), "%s", "");
    CALL(MPI_Comm_disconnect(&children), "%s", "");
}

static void start_one(int rank, char *command, const char *folder)
{
    char *argv[16];
    MPI_Comm children;
    MPI_Info info = MPI_INFO_NULL;
    child_arguments(argv, "3");
    if (folder) {
        CALL(MPI_Info_create(&info), "info=@info");
        CALL(MPI_Info_set(info, "wdir", folder), "key=wdir");
    }
    if (rank == 0)
        CALL(MPI_Comm_spawn(command, argv, 3, info, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE),
             "command=%s maxprocs=3 root=0 comm=world intercomm=@children archive=%s", command,
             getenv("EXPECT_ARCHIVE"));
    else
        CALL(MPI_Comm_spawn(NULL, NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE),
             "command=NULL root=0 comm=world intercomm=@children archive=NULL");
    talk(children, 2, rank == 0);
}

static void start_several(int rank, char *a, char *b)
{
    char *commands[] = {a, b}, *argv[16], **argvs[] = {argv, argv};
    int n[] = {2, 1}, errors[3];
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children;
    child_arguments(argv, "3");
    if (rank == 1)
        CALL(MPI_Comm_spawn_multiple(2, commands, argvs, n, infos, 1, MPI_COMM_WORLD, &children,
                                     errors),
             "count=2 root=1 comm=world intercomm=@children archive=%s", getenv("EXPECT_ARCHIVE"));
    else
        CALL(MPI_Comm_spawn_multiple(0, NULL, NULL, NULL, NULL, 1, MPI_COMM_WORLD, &children,
                                     MPI_ERRCODES_IGNORE),
             "root=1 comm=world intercomm=@children archive=NULL");
    talk(children, 2, rank == 0);
}

static void start_each(int rank, char *command)
{
    char *argv[16];
    MPI_Comm children;
    child_arguments(argv, "1");
    for (int i = 1; i <= 2; i++) {
        CALL(MPI_Comm_spawn(command, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                            MPI_ERRCODES_IGNORE),
             "comm=self intercomm=@children-%d-%d archive=%s%s.spawn%d.rfn", rank, i,
             getenv("EXPECT_ARCHIVE"), rank == 0 ? "" : ".rank1", i);
        talk(children, 0, true);
    }
}

static void start_missing(void)
{
    MPI_Comm children;
    CALL(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "comm=self");
    int rc = MPI_Comm_spawn("./there-is-no-such-program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0,
                            MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
    printf("error %d\n", rc != MPI_SUCCESS);
}

/* ---- connections ---- */

static void exchange(int rank, MPI_Comm other)
{
    int data[5] = {0};
    if (rank == 0)
        CALL(MPI_Send(data, 5, MPI_INT, 0, 8, other), "dest=0 tag=8 bytes=20 comm=@connection");
    else
        CALL(MPI_Recv(data, 5, MPI_INT, 0, 8, other, MPI_STATUS_IGNORE),
             "source=0 tag=8 bytes=20 comm=@connection");
    CALL(MPI_Comm_disconnect(&other), "comm=@connection");
}

static void connect_by_port(int rank)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    if (rank == 1)
        CALL(MPI_Open_port(MPI_INFO_NULL, port), "info=MPI_INFO_NULL");
    CALL(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, MPI_COMM_WORLD), "root=1");
    if (rank == 1)
        CALL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other),
             "comm=self newcomm=@connection");
    else
        CALL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other),
             "comm=self newcomm=@connection");
    exchange(rank, other);
    if (rank == 1)
        CALL(MPI_Close_port(port), "%s", "");
}

/* A socket of this machine between the ranks. */
static int connect_socket(int rank)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", getenv("EXPECT_SOCKET"));
    if (rank == 1) {
        if (bind(fd, (void *)&address, sizeof address) != 0 || listen(fd, 1) != 0)
            exit(95);
        CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
        return accept(fd, NULL, NULL);
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    return connect(fd, (void *)&address, sizeof address) == 0 ? fd : -1;
}

static void join(int rank)
{
    MPI_Comm other;
    int fd = connect_socket(rank);
    CALL(MPI_Comm_join(fd, &other), "intercomm=@connection");
    exchange(rank, other);
}

static void serve(const char *path)
{
    char port[MPI_MAX_PORT_NAME] = "", other_path[4096];
    MPI_Comm other;
    CALL(MPI_Open_port(MPI_INFO_NULL, port), "info=MPI_INFO_NULL");
    snprintf(other_path, sizeof other_path, "%s.new", path);
    FILE *file = fopen(other_path, "w");
    if (!file || fputs(port, file) < 0 || fclose(file) != 0 || rename(other_path, path) != 0)
        exit(94);
    CALL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other),
         "port_name=%s comm=world newcomm=@connection", port);
    exchange(0, other);
    CALL(MPI_Close_port(port), "%s", "");
}

static void visit(const char *path)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    while (access(path, R_OK) != 0)
        usleep(10000);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(port, sizeof port, file))
        exit(94);
    CALL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other),
         "port_name=%s comm=world newcomm=@connection", port);
    exchange(1, other);
}

int main(int argc, char **argv)
{
    int rank;
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "child") == 0)
        return child(argc, argv);
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    if (strcmp(how, "one") == 0)
        start_one(rank, argv[2], argc > 3 ? argv[3] : NULL);
    else if (strcmp(how, "several") == 0)
        start_several(rank, argv[2], argv[3]);
    else if (strcmp(how, "each") == 0)
        start_each(rank, argv[2]);
    else if (strcmp(how, "missing") == 0)
        start_missing();
    else if (strcmp(how, "port") == 0)
        connect_by_port(rank);
    else if (strcmp(how, "serve") == 0)
        serve(argv[2]);
    else if (strcmp(how, "visit") == 0)
        visit(argv[2]);
    else
        join(rank);
    return expect_finalize(rank);
}
