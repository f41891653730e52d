#include "gather/mpi_job.h"

#include <stdio.h>

void gth_job_init(struct gth_job *job)
{
    MPI_Comm node;
    int rank, leader, leads;
    *job = (struct gth_job){.diag = {.file_offset = -1, .rank = -1}};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    PMPI_Allreduce(&rank, &leader, 1, MPI_INT, MPI_MIN, node);
    PMPI_Comm_free(&node);
    PMPI_Comm_split(MPI_COMM_WORLD, 0, leader, &job->comm);
    PMPI_Comm_rank(job->comm, &job->process);
    PMPI_Comm_size(job->comm, &job->processes);
    leads = leader == rank;
    PMPI_Allreduce(&leads, &job->nodes, 1, MPI_INT, MPI_SUM, job->comm);
}

void gth_job_release(struct gth_job *job)
{
    PMPI_Comm_free(&job->comm);
}

int gth_agree(struct gth_job *job)
{
    char text[sizeof job->diag.text + MPI_MAX_PROCESSOR_NAME + 8] = "";
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int mine = job->error < 0 ? job->process : job->processes, first, length;
    int status = (int)rfn_exit_status(job->error);
    PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, job->comm);
    if (first == job->processes)
        return 0;
    PMPI_Get_processor_name(host, &length);
    const bool names_host = first > 0 && job->nodes > 1;
    if (job->process == first)
        snprintf(text, sizeof text, "%s%s%s", names_host ? host : "", names_host ? ": " : "",
                 job->diag.text[0] ? job->diag.text : rfn_error_text(job->error));
    PMPI_Bcast(text, sizeof text, MPI_CHAR, first, job->comm);
    PMPI_Bcast(&status, 1, MPI_INT, first, job->comm);
    if (job->process == 0)
        fprintf(stderr, "refrain: %s\n", text);
    return status;
}
