/* Files: every way to read and to write that files.c does not have. Bytes are those of the status
 * that MPI gave. ranks: 2 */
#include "expect.h"

#include <unistd.h>

enum { N = 8 };

static int rank;
static int data[64];
static MPI_File file;
static MPI_Status status;
static MPI_Request request;

#define NONBLOCKING(call, ...)                                         \
    do {                                                               \
        CALL(call, __VA_ARGS__);                                       \
        CALL(MPI_Wait(&request, &status), "request=recent:1 !source"); \
    } while (0)

static void rewind_both(void)
{
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    CALL(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "fh=file#0 offset=0 whence=%d", MPI_SEEK_SET);
    CALL(MPI_File_seek(file, 0, MPI_SEEK_SET), "fh=file#0 offset=0");
}

static void sizes(void)
{
    int flag;
    MPI_Offset offset;
    LENGTH extent;
    CALL(MPI_File_get_type_extent(file, MPI_INT, &extent), "fh=file#0 datatype=MPI_INT");
    CALL(MPI_File_preallocate(file, 4096), "fh=file#0 size=4096");
    CALL(MPI_File_set_size(file, 2048), "fh=file#0 size=2048");
    CALL(MPI_File_get_size(file, &offset), "fh=file#0 size=2048");
    CALL(MPI_File_set_atomicity(file, 1), "fh=file#0 flag=1");
    CALL(MPI_File_get_atomicity(file, &flag), "fh=file#0 flag=1");
    CALL(MPI_File_set_atomicity(file, 0), "fh=file#0 flag=0");
    CALL(MPI_File_get_position(file, &offset), "fh=file#0");
    CALL(MPI_File_get_byte_offset(file, 12, &offset), "fh=file#0 offset=12");
}

static void individual(void)
{
    CALL(MPI_File_write(file, data, N, MPI_INT, &status),
         "fh=file#0 count=8 datatype=MPI_INT bytes=32");
    NONBLOCKING(MPI_File_iwrite(file, data, N, MPI_INT, &request), "fh=file#0 count=8 bytes=32");
    NONBLOCKING(MPI_File_iwrite_at(file, 64 * rank, data, N, MPI_INT, &request),
                "offset=%d count=8 bytes=32", 64 * rank);
    rewind_both();
    CALL(MPI_File_read(file, data, N, MPI_INT, &status), "fh=file#0 count=8 bytes=32");
    NONBLOCKING(MPI_File_iread(file, data, N, MPI_INT, &request), "fh=file#0 count=8 bytes=32");
    NONBLOCKING(MPI_File_iread_at(file, 64 * rank, data, N, MPI_INT, &request), "offset=%d count=8",
                64 * rank);
    rewind_both();
}

static void shared_pointer(void)
{
    MPI_Offset offset;
    CALL(MPI_File_write_shared(file, data, N, MPI_INT, &status), "fh=file#0 count=8 bytes=32");
    NONBLOCKING(MPI_File_iwrite_shared(file, data, N, MPI_INT, &request), "count=8 bytes=32");
    rewind_both();
    CALL(MPI_File_read_shared(file, data, N, MPI_INT, &status), "fh=file#0 count=8 bytes=32");
    NONBLOCKING(MPI_File_iread_shared(file, data, N, MPI_INT, &request), "count=8 bytes=32");
    CALL(MPI_File_get_position_shared(file, &offset), "fh=file#0");
    rewind_both();
    CALL(MPI_File_write_ordered(file, data, N, MPI_INT, &status), "fh=file#0 count=8 bytes=32");
    rewind_both();
    CALL(MPI_File_read_ordered(file, data, N, MPI_INT, &status), "fh=file#0 count=8 bytes=32");
    rewind_both();
    CALL(MPI_File_write_ordered_begin(file, data, N, MPI_INT), "fh=file#0 count=8 bytes=32");
    CALL(MPI_File_write_ordered_end(file, data, &status), "fh=file#0 bytes=32");
    rewind_both();
    CALL(MPI_File_read_ordered_begin(file, data, N, MPI_INT), "fh=file#0 count=8");
    CALL(MPI_File_read_ordered_end(file, data, &status), "fh=file#0 bytes=32");
    rewind_both();
}

static void collective(void)
{
    int at = 32 * rank;
    CALL(MPI_File_write_all(file, data, N, MPI_INT, &status), "fh=file#0 count=8 bytes=32");
    CALL(MPI_File_write_at_all(file, at, data, N, MPI_INT, &status), "offset=%d bytes=32", at);
    CALL(MPI_File_write_all_begin(file, data, N, MPI_INT), "fh=file#0 count=8 bytes=32");
    CALL(MPI_File_write_all_end(file, data, &status), "fh=file#0 bytes=32");
    CALL(MPI_File_write_at_all_begin(file, at, data, N, MPI_INT), "offset=%d count=8", at);
    CALL(MPI_File_write_at_all_end(file, data, &status), "fh=file#0 bytes=32");
    NONBLOCKING(MPI_File_iwrite_all(file, data, N, MPI_INT, &request), "count=8 bytes=32");
    NONBLOCKING(MPI_File_iwrite_at_all(file, at, data, N, MPI_INT, &request), "offset=%d", at);
    rewind_both();
    CALL(MPI_File_read_all(file, data, N, MPI_INT, &status), "fh=file#0 count=8 bytes=32");
    CALL(MPI_File_read_at_all(file, at, data, N, MPI_INT, &status), "offset=%d bytes=32", at);
    CALL(MPI_File_read_all_begin(file, data, N, MPI_INT), "fh=file#0 count=8");
    CALL(MPI_File_read_all_end(file, data, &status), "fh=file#0 bytes=32");
    CALL(MPI_File_read_at_all_begin(file, at, data, N, MPI_INT), "offset=%d count=8", at);
    CALL(MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE), "fh=file#0 bytes=32");
    NONBLOCKING(MPI_File_iread_all(file, data, N, MPI_INT, &request), "count=8");
    NONBLOCKING(MPI_File_iread_at_all(file, at, data, N, MPI_INT, &request), "offset=%d", at);
}

/* Ranks take turns, two integers each. */
static void view(void)
{
    MPI_Datatype turns, etype, filetype;
    MPI_Offset disp, offset;
    char name[MPI_MAX_DATAREP_STRING];
    CALL(MPI_Type_vector(4, 2, 4, MPI_INT, &turns), "newtype=vector(4,2,4,MPI_INT)");
    CALL(MPI_Type_commit(&turns), "datatype=vector(4,2,4,MPI_INT)");
    CALL(MPI_File_set_view(file, 8 * rank, MPI_INT, turns, "native", MPI_INFO_NULL),
         "fh=file#0 disp=%d etype=MPI_INT filetype=vector(4,2,4,MPI_INT) datarep=native", 8 * rank);
    CALL(MPI_File_get_view(file, &disp, &etype, &filetype, name),
         "fh=file#0 etype=MPI_INT filetype=@copy"); /* a type of MPI's own around it */
    CALL(MPI_Type_free(&filetype), "datatype=@copy");
    CALL(MPI_File_get_byte_offset(file, 2, &offset), "fh=file#0 offset=2");
    CALL(MPI_File_write_all(file, data, N, MPI_INT, &status), "count=8 bytes=32");
    CALL(MPI_Type_free(&turns), "datatype=vector(4,2,4,MPI_INT)");
}

static int extent_in_file(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    (void)type, (void)state;
    *extent = 4;
    return MPI_SUCCESS;
}

static void properties(void)
{
    MPI_Info info;
    MPI_Group group;
    MPI_Errhandler handler;
    CALL(MPI_File_get_info(file, &info), "fh=file#0 info_used=info#0");
    CALL(MPI_File_set_info(file, info), "fh=file#0 info=info#0");
    CALL(MPI_Info_free(&info), "info=info#0");
    CALL(MPI_Register_datarep("ours", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                              extent_in_file, NULL),
         "datarep=ours");
    CALL(MPI_File_get_group(file, &group), "fh=file#0 group=group#0");
    CALL(MPI_Group_free(&group), "group=group#0");
    CALL(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN),
         "file=file#0 errhandler=MPI_ERRORS_RETURN");
    CALL(MPI_File_get_errhandler(file, &handler), "file=file#0 errhandler=MPI_ERRORS_RETURN");
}

/* The name of a file that both ranks know: made by rank 0. */
static void make_name(char *path, int size)
{
    if (rank == 0) {
        const char *folder = getenv("TMPDIR");
        snprintf(path, (size_t)size, "%s/refrain-file-access-XXXXXX", folder ? folder : "/tmp");
        int fd = mkstemp(path);
        if (fd < 0)
            abort();
        close(fd);
    }
    CALL(MPI_Bcast(path, size, MPI_CHAR, 0, MPI_COMM_WORLD), "count=%d", size);
}

int main(int argc, char **argv)
{
    char path[256] = "";
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    make_name(path, sizeof path);
    CALL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file),
         "filename=%s fh=file#0", path);
    sizes();
    individual();
    shared_pointer();
    collective();
#ifndef EXPECT_LARGE /* MPICH 4.0 makes no view of a type that has large counts */
    view();
#endif
    properties();
    CALL(MPI_File_close(&file), "fh=file#0");
    if (rank == 0)
        CALL(MPI_File_delete(path, MPI_INFO_NULL), "filename=%s info=MPI_INFO_NULL", path);
    return expect_finalize(rank);
}
