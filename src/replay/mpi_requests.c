/* mpi_requests.c - what completes requests, or ends them otherwise.
 *
 * A completion call waits for those requests that it completed when it was recorded, and for no
 * others, whichever call it was: MPI_Waitany for the one, MPI_Testsome for some. So replay goes the
 * same way whatever comes first now. Unsuccessful tests are left out.
 */
#include "replay/mpi_player.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- completion ---- */

/* What MPI is to wait for. */
static MPI_Request *handle_of(struct rpl_request *request)
{
    return request->once != MPI_REQUEST_NULL ? &request->once : &request->request;
}

/* A request has completed; its handle is MPI's again, unless it is persistent. */
static void finish(struct rpl_player *player, const struct rfn_completed *completed,
                   struct rpl_request *request, MPI_Status *status)
{
    const struct rfn_call *made = rfn_archive_call(player->archive, request->function);
    const struct rfn_volume *volume = completed->origin->volume;
    bool told = rfn_call_receives(made) &&
                !rfn_call_sends(made); /* of MPI_Isendrecv MPICH 4.0 tells nothing */
    if (told && request->posted && !request->partitioned)
        rpl_check(player, status, request->type, volume, request->stamped ? &request->stamp : NULL,
                  request->buffer);
    request->active = false;
    if (made->variant != RFN_CALL_PERSISTENT)
        rpl_give_request(player, request);
}

static void wait_for(struct rpl_player *player, const struct rfn_call_event *call, int n)
{
    const uint8_t operation = call->call->operation;
    if (n != 1 || operation == RFN_MPI_Waitall || operation == RFN_MPI_Testall) {
        MPI_Waitall(n, player->room.handles, player->room.statuses);
    } else if (operation == RFN_MPI_Waitany) {
        int index;
        MPI_Waitany(1, player->room.handles, &index, player->room.statuses);
    } else {
        MPI_Wait(player->room.handles, player->room.statuses);
    }
}

static struct rpl_request *completed_request(struct rpl_player *player, size_t i)
{
    const struct rfn_completed *completed = &player->effects.completed[i];
    struct rpl_request *request = completed->known ? rpl_request_of(player, completed->origin)
                                                   : NULL;
    return request && *handle_of(request) != MPI_REQUEST_NULL ? request : NULL;
}

static int issue_completion(struct rpl_player *player, const struct rfn_call_event *call)
{
    size_t n_completed = player->effects.n_completed;
    int n = 0;
    RFN_TRY(RFN_GROW(player->room.handles, player->room.handles_capacity, n_completed + 1));
    RFN_TRY(RFN_GROW(player->room.statuses, player->room.statuses_capacity, n_completed + 1));
    for (size_t i = 0; i < n_completed; i++) {
        struct rpl_request *request = completed_request(player, i);
        if (request)
            player->room.handles[n++] = *handle_of(request);
    }
    if (n == 0 && n_completed)
        return 0;
    wait_for(player, call, n);
    n = 0;
    for (size_t i = 0; i < n_completed; i++) {
        struct rpl_request *request = completed_request(player, i);
        if (!request)
            continue;
        *handle_of(request) = player->room.handles[n];
        finish(player, &player->effects.completed[i], request, &player->room.statuses[n++]);
    }
    return 0;
}

/* It told of a completion, and so does this, some time. */
static int issue_get_status(struct rpl_player *player, const struct rfn_call_event *call)
{
    (void)call;
    for (size_t i = 0; i < player->effects.n_completed; i++) {
        struct rpl_request *request = completed_request(player, i);
        int done = request == NULL;
        while (!done)
            MPI_Request_get_status(*handle_of(request), &done, MPI_STATUS_IGNORE);
    }
    return 0;
}

/* ---- other ends ---- */

static int issue_request_free(struct rpl_player *player, const struct rfn_call_event *call)
{
    const struct rfn_request_origin *origin = player->effects.freed;
    struct rpl_request *request = origin ? rpl_request_of(player, origin) : NULL;
    (void)call;
    if (!request || request->request == MPI_REQUEST_NULL)
        return 0;
    rpl_bury_orphans(player);
    if (request->active)
        return rpl_orphan_request(player, request);
    MPI_Request_free(&request->request);
    rpl_give_request(player, request);
    return 0;
}

/* Only where it was successful: such a request stands where it matches nothing. */
static int issue_cancel(struct rpl_player *player, const struct rfn_call_event *call)
{
    const struct rfn_request_origin *origin = player->effects.cancelled;
    struct rpl_request *request = origin ? rpl_request_of(player, origin) : NULL;
    (void)call;
    if (request && !request->posted && *handle_of(request) != MPI_REQUEST_NULL)
        MPI_Cancel(handle_of(request));
    return 0;
}

/* ---- the buffer of MPI_Bsend ---- */

/* What MPI needs beside the messages may be more than where this was recorded. */
enum { BSEND_MORE = 1 << 20 };

static int issue_buffer_attach(struct rpl_player *player, const struct rfn_call_event *call)
{
    int64_t size = rfn_word(call, RFN_IN_size, 0);
    if (size < 0 || size > INT32_MAX - BSEND_MORE)
        size = INT32_MAX - BSEND_MORE;
    if (player->memory.bsend)
        return 0;
    player->memory.bsend = malloc((size_t)size + BSEND_MORE);
    if (!player->memory.bsend)
        return rpl_no_memory(player);
    MPI_Buffer_attach(player->memory.bsend, (int)size + BSEND_MORE);
    return 0;
}

static int issue_buffer_detach(struct rpl_player *player, const struct rfn_call_event *call)
{
    void *buffer;
    int size;
    (void)call;
    if (!player->memory.bsend)
        return 0;
    MPI_Buffer_detach(&buffer, &size);
    free(player->memory.bsend);
    player->memory.bsend = NULL;
    return 0;
}

const struct rpl_named_handler rpl_request_handlers[] = {
    {RFN_MPI_Wait, issue_completion},
    {RFN_MPI_Waitall, issue_completion},
    {RFN_MPI_Waitany, issue_completion},
    {RFN_MPI_Waitsome, issue_completion},
    {RFN_MPI_Test, issue_completion},
    {RFN_MPI_Testall, issue_completion},
    {RFN_MPI_Testany, issue_completion},
    {RFN_MPI_Testsome, issue_completion},
    {RFN_MPI_Request_get_status, issue_get_status},
    {RFN_MPI_Request_free, issue_request_free},
    {RFN_MPI_Cancel, issue_cancel},
    {RFN_MPI_Buffer_attach, issue_buffer_attach},
    {RFN_MPI_Buffer_detach, issue_buffer_detach},
    {RFN_MPI_OTHER, NULL}};
