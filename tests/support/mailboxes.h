/* mailboxes.h - for tests of what ranks do together: ranks are threads, and messages go through a
 * mailbox per pair. To be included by one file of a test program.
 */
#ifndef RFN_TESTS_SUPPORT_MAILBOXES_H
#define RFN_TESTS_SUPPORT_MAILBOXES_H

#include "reduce/merge/exchange.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 66 };

struct mail {
    struct rfn_buf bytes;
    struct mail *next;
};

/* A rank's way to the others. */
struct postman {
    struct world *world;
    int rank;
};

struct world {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    struct mail *boxes[MAX_RANKS][MAX_RANKS]; /* [to][from], oldest first */
    struct postman postmen[MAX_RANKS];
    uint64_t received[MAX_RANKS]; /* bytes, by rank */
    int size;
};

static int send_mail(void *context, int to, const void *bytes, size_t size)
{
    const struct postman *postman = context;
    struct world *world = postman->world;
    struct mail *mail = calloc(1, sizeof *mail);
    rfn_buf_bytes(&mail->bytes, bytes, size);
    pthread_mutex_lock(&world->mutex);
    struct mail **box = &world->boxes[to][postman->rank];
    while (*box)
        box = &(*box)->next;
    *box = mail;
    pthread_cond_broadcast(&world->arrived);
    pthread_mutex_unlock(&world->mutex);
    return 0;
}

static int receive_mail(void *context, int from, struct rfn_buf *bytes)
{
    const struct postman *postman = context;
    struct world *world = postman->world;
    pthread_mutex_lock(&world->mutex);
    struct mail **box = &world->boxes[postman->rank][from];
    while (!*box)
        pthread_cond_wait(&world->arrived, &world->mutex);
    struct mail *mail = *box;
    *box = mail->next;
    world->received[postman->rank] += mail->bytes.size;
    pthread_mutex_unlock(&world->mutex);
    rfn_buf_bytes(bytes, mail->bytes.data, mail->bytes.size);
    rfn_buf_release(&mail->bytes);
    free(mail);
    return 0;
}

/* Runs `act` on all ranks at once: that of rank r gets the r-th of the members, each of so many
 * bytes. *exchange of it is set up before. */
static void run_world(struct world *world, int size, void *(*act)(void *member), void *members,
                      size_t member_size, size_t offset_of_exchange)
{
    pthread_t threads[MAX_RANKS];
    memset(world, 0, sizeof *world);
    pthread_mutex_init(&world->mutex, NULL);
    pthread_cond_init(&world->arrived, NULL);
    world->size = size;
    for (int rank = 0; rank < size; rank++) {
        char *member = (char *)members + (size_t)rank * member_size;
        world->postmen[rank] = (struct postman){world, rank};
        struct rfn_exchange exchange = {.rank = rank,
                                        .size = size,
                                        .context = &world->postmen[rank],
                                        .send = send_mail,
                                        .receive = receive_mail};
        memcpy(member + offset_of_exchange, &exchange, sizeof exchange);
    }
    for (int rank = 0; rank < size; rank++)
        pthread_create(&threads[rank], NULL, act, (char *)members + (size_t)rank * member_size);
    for (int rank = 0; rank < size; rank++)
        pthread_join(threads[rank], NULL);
    pthread_mutex_destroy(&world->mutex);
    pthread_cond_destroy(&world->arrived);
}

#endif
