#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getrandom, gethostname */
#endif

#include "record/core/run_identity.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/system.h"
#include "record/core/exchange_mpi.h"
#include "record/core/job.h"
#include "record/core/wait_warning.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#ifndef RFN_FLAVOUR_SMPI

static uint64_t identity;

/* Of what was put together; never 0. */
static uint64_t number_of(struct rfn_buf *words)
{
    const uint64_t hash = rfn_buf_status(words) < 0 ? 0 : rfn_hash_bytes(words->data, words->size);
    rfn_buf_release(words);
    return hash ? hash : 1;
}

/* Of this process, and no other one. */
static uint64_t of_process(void)
{
    struct rfn_buf words = RFN_BUF_INIT;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    rfn_buf_string(&words, host);
    rfn_buf_u64(&words, (uint64_t)getpid());
    rfn_buf_u64(&words, rfn_process_began((uint64_t)getpid()));
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) == (ssize_t)sizeof random)
        rfn_buf_u64(&words, random);
    rfn_buf_u64(&words, (uint64_t)rec_start().realtime_ns);
    return number_of(&words);
}

static uint64_t of_variables(const char *const *variables)
{
    struct rfn_buf words = RFN_BUF_INIT;
    for (; *variables; variables++) {
        const char *value = getenv(*variables);
        rfn_buf_string(&words, value ? value : "");
    }
    return number_of(&words);
}

/* 0: it is not known. */
static uint64_t of_pmi_server(void)
{
    struct rfn_buf words = RFN_BUF_INIT;
    char host[256] = "";
    const long server = rec_job_pmi_server();
    if (server <= 0)
        return 0;
    gethostname(host, sizeof host - 1);
    rfn_buf_string(&words, host);
    rfn_buf_u64(&words, (uint64_t)server);
    rfn_buf_u64(&words, rfn_process_began((uint64_t)server));
    return number_of(&words);
}

/* Whether the launcher tells; *found: what, or 0. All ranks get the same answer. */
static bool ask_launcher(uint64_t *found)
{
    static const char *const of_pmix[] = {"PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports",
                                          NULL};
    static const char *const of_slurm[] = {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID",
                                           "SLURM_RESTART_COUNT", NULL};
    const char *space = getenv("PMIX_NAMESPACE");
    const bool mpirun = getenv("OMPI_COMM_WORLD_SIZE"), hydra = getenv("MPI_LOCALNRANKS");
    /* Parts of a heterogeneous job are jobs of their own. */
    const bool slurm = getenv("SLURM_JOB_ID") && getenv("SLURM_STEP_ID") &&
                       !getenv("SLURM_HET_SIZE") && !mpirun && !hydra;
    if (rec_job_launched().size != rec_job_size())
        return false;
    if (slurm)
        *found = of_variables(of_slurm);
    else if (space)
        *found = of_variables(of_pmix);
    else if (hydra && rec_job_on_one_node(rec_job_size()))
        *found = of_pmi_server();
    else
        return false;
    return true;
}

/* Rank 0's, for all. */
static uint64_t told_by_first(void)
{
    struct rec_wait_warning warning;
    struct rec_exchange exchange;
    uint64_t word = of_process();
    rec_wait_warning_begin(&warning, "start MPI");
    if (rec_exchange_open(&exchange, true) < 0) {
        word = 0;
    } else {
        if (rfn_exchange_tell(&exchange.exchange, &word) < 0)
            word = 0;
        rec_exchange_close(&exchange);
    }
    rec_wait_warning_end(&warning);
    return word;
}

void rec_run_identity_settle(void)
{
    if (identity)
        return;
    if (rec_job_size() == 1)
        identity = of_process();
    else if (!ask_launcher(&identity))
        identity = told_by_first();
}

/* Asked once, by a thread of the program: the environment may change later. */
uint64_t rec_run_identity(void)
{
    static bool asked;
    if (!identity && rec_job_size() > 1 && !__atomic_exchange_n(&asked, true, __ATOMIC_ACQ_REL))
        ask_launcher(&identity);
    return identity;
}

void rec_run_identity_make(void)
{
    if (!rec_run_identity())
        identity = of_process();
}

#else /* simulated runs share no folder at the same time, and their ranks are one process */

void rec_run_identity_settle(void)
{
}

void rec_run_identity_make(void)
{
}

uint64_t rec_run_identity(void)
{
    return 0;
}

#endif
