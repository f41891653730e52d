/* File access through MPI. ranks: 2 */
#include "expect.h"

#include <unistd.h>

static int rank;

/* The name of a file that both ranks know: made by rank 0. */
static void make_name(char *path, int size)
{
    if (rank == 0) {
        const char *folder = getenv("TMPDIR");
        snprintf(path, (size_t)size, "%s/refrain-files-XXXXXX", folder ? folder : "/tmp");
        int fd = mkstemp(path);
        if (fd < 0)
            abort();
        close(fd);
    }
    CALL(MPI_Bcast(path, size, MPI_CHAR, 0, MPI_COMM_WORLD), "count=%d bytes=%d", size, size);
}

static void write_and_read(MPI_File file)
{
    int data[16] = {0};
    MPI_Status status;
    MPI_Offset size;
    CALL(MPI_File_write_at(file, 64 * rank, data, 16, MPI_INT, &status),
         "fh=file#0 offset=%d count=16 datatype=MPI_INT bytes=64", 64 * rank);
    CALL(MPI_File_sync(file), "fh=file#0");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    CALL(MPI_File_get_size(file, &size), "fh=file#0 size=128");
    CALL(MPI_File_read_at(file, 64 * (1 - rank), data, 16, MPI_INT, MPI_STATUS_IGNORE),
         "fh=file#0 offset=%d count=16 bytes=64", 64 * (1 - rank));
    CALL(MPI_File_read_at(file, 120, data, 16, MPI_INT, &status), /* only 8 bytes are left */
         "offset=120 count=16 bytes=8");
    CALL(MPI_File_seek(file, 4 * rank, MPI_SEEK_SET), "fh=file#0 offset=%d whence=%d", 4 * rank,
         MPI_SEEK_SET);
    CALL(MPI_File_read(file, data, 2, MPI_INT, MPI_STATUS_IGNORE), "fh=file#0 count=2 bytes=8");
}

static void together(MPI_File file)
{
    int data[16] = {0};
    MPI_Request request;
    CALL(MPI_File_write_at_all(file, 32 * rank, data, 8, MPI_INT, MPI_STATUS_IGNORE),
         "fh=file#0 offset=%d count=8 bytes=32", 32 * rank);
    CALL(MPI_File_read_at_all(file, 32 * rank, data, 4, MPI_INT, MPI_STATUS_IGNORE), "bytes=16");
    CALL(MPI_File_iwrite_at(file, 64 * rank, data, 4, MPI_INT, &request),
         "fh=file#0 offset=%d count=4 bytes=16", 64 * rank);
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1 !source");
    CALL(MPI_File_set_view(file, 64 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
         "fh=file#0 disp=%d etype=MPI_INT filetype=MPI_INT datarep=native info=MPI_INFO_NULL",
         64 * rank);
    CALL(MPI_File_write_all(file, data, 2, MPI_INT, MPI_STATUS_IGNORE), "count=2 bytes=8");
}

int main(int argc, char **argv)
{
    char path[256] = "";
    MPI_File file, missing;
    int amode;
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    make_name(path, sizeof path);
    CALL(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file),
         "comm=world filename=%s amode=%d info=MPI_INFO_NULL fh=file#0", path, MPI_MODE_RDWR);
    CALL(MPI_File_get_amode(file, &amode), "fh=file#0 amode=%d", MPI_MODE_RDWR);
    write_and_read(file);
    together(file);
    CALL(MPI_File_close(&file), "fh=file#0");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    if (rank == 0)
        CALL(MPI_File_delete(path, MPI_INFO_NULL), "filename=%s", path);
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    /* Errors of files are returned by default. */
    CALL(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &missing),
         "comm=self filename=%s error=%d", path, MPI_ERR_NO_SUCH_FILE);
    return expect_finalize(rank);
}
