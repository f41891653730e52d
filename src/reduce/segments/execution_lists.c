#include "reduce/segments/execution_lists.h"

#include "base/grow.h"

#include <stdlib.h>

/* ---- life ---- */

void rfn_execution_lists_init(struct rfn_execution_lists *lists)
{
    *lists = (struct rfn_execution_lists){0};
    rfn_column_init(&lists->top);
    rfn_column_init(&lists->firsts);
}

static void init_list(struct rfn_execution_list *list)
{
    *list = (struct rfn_execution_list){0};
    rfn_column_init(&list->rest);
}

static void release_list(struct rfn_execution_list *list)
{
    rfn_list_release(&list->coded);
    rfn_column_release(&list->rest);
}

static int make_contexts(struct rfn_execution_lists *lists, uint32_t n)
{
    RFN_TRY(RFN_GROW(lists->contexts, lists->capacity, n));
    for (; lists->n_contexts < n; lists->n_contexts++) {
        struct rfn_execution_context *context = &lists->contexts[lists->n_contexts];
        *context = (struct rfn_execution_context){0};
        init_list(&context->columns.representative);
        init_list(&context->columns.correction);
        rfn_column_init(&context->columns.pace);
        rfn_column_init(&context->columns.kept);
    }
    return 0;
}

void rfn_execution_lists_release(struct rfn_execution_lists *lists)
{
    for (size_t i = 0; i < lists->n_contexts; i++) {
        struct rfn_execution_context *context = &lists->contexts[i];
        release_list(&context->columns.representative);
        release_list(&context->columns.correction);
        rfn_column_release(&context->columns.pace);
        rfn_column_release(&context->columns.kept);
        free(context->number_of);
        free(context->stored);
    }
    free(lists->contexts);
    rfn_column_release(&lists->top);
    rfn_column_release(&lists->firsts);
    rfn_execution_lists_init(lists);
}

static void begin_anew(struct rfn_execution_lists *lists, struct rfn_representative_store *store)
{
    uint64_t gone_over = lists->gone_over;
    rfn_execution_lists_release(lists);
    rfn_representative_store_thaw(store);
    lists->gone_over = gone_over;
}

void rfn_execution_lists_give_up(struct rfn_execution_lists *lists,
                                 struct rfn_representative_store *store)
{
    begin_anew(lists, store);
    lists->given_up = true;
}

/* ---- columns ---- */

int rfn_execution_lists_each_column(void *of,
                                    int (*visit)(void *context, struct rfn_column *column),
                                    void *context)
{
    struct rfn_execution_lists *lists = of;
    for (size_t i = 0; i < lists->n_contexts; i++) {
        struct rfn_execution_columns *columns = &lists->contexts[i].columns;
        RFN_TRY(visit(context, &columns->representative.rest));
        RFN_TRY(visit(context, &columns->correction.rest));
        RFN_TRY(visit(context, &columns->pace));
        RFN_TRY(visit(context, &columns->kept));
    }
    RFN_TRY(visit(context, &lists->top));
    return visit(context, &lists->firsts);
}

static size_t list_bytes(const struct rfn_execution_list *list)
{
    return rfn_list_bytes(&list->coded) + rfn_column_bytes(&list->rest);
}

size_t rfn_execution_lists_bytes(const struct rfn_execution_lists *lists)
{
    size_t bytes = lists->capacity * sizeof *lists->contexts + rfn_column_bytes(&lists->top) +
                   rfn_column_bytes(&lists->firsts);
    for (size_t i = 0; i < lists->n_contexts; i++) {
        const struct rfn_execution_context *context = &lists->contexts[i];
        const struct rfn_execution_columns *columns = &context->columns;
        bytes += list_bytes(&columns->representative) + list_bytes(&columns->correction) +
                 rfn_column_bytes(&columns->pace) + rfn_column_bytes(&columns->kept) +
                 context->number_of_capacity * sizeof *context->number_of +
                 context->stored_capacity * sizeof *context->stored;
    }
    return bytes;
}

/* ---- going over segments ---- */

struct pass {
    struct rfn_execution_lists *lists;
    const struct rfn_start_rule *starts;
    const struct rfn_representative_store *store;
    struct rfn_column_cursor order, number, lateness, lengths;
    struct rfn_coder_memory *coder; /* NULL: what is made is not coded */
};

/* A segment, as far as lists are concerned. */
struct step {
    int64_t context, put_as; /* or TOP, LOOSE */
    uint32_t stored;         /* what it is executed as, if it is not loose */
    int64_t correction;
};

/* Where corrections are. */
static int open_pass(struct pass *pass, const struct rfn_held_segments *segments)
{
    const struct rfn_corrected *place = &pass->lists->corrected;
    rfn_column_open_growing(&pass->order, segments->order);
    rfn_column_open_growing(&pass->number, segments->number);
    rfn_column_open_growing(&pass->lateness, segments->lateness);
    rfn_column_open_growing(&pass->lengths, segments->lengths);
    RFN_TRY(rfn_column_skip(&pass->order, place->segments));
    RFN_TRY(rfn_column_skip(&pass->number, place->numbers));
    RFN_TRY(rfn_column_skip(&pass->lateness, place->segments));
    return rfn_column_skip(&pass->lengths, place->lengths);
}

static int read_segment(struct pass *pass, struct step *step)
{
    struct rfn_corrected *place = &pass->lists->corrected;
    struct rfn_start_lengths lengths;
    int64_t late, length;
    *step = (struct step){.put_as = RFN_EXECUTED_LOOSE};
    RFN_TRY(rfn_column_next(&pass->order, &step->context));
    if (step->context != RFN_EXECUTED_TOP)
        RFN_TRY(rfn_column_next(&pass->number, &step->put_as));
    if (step->put_as != RFN_EXECUTED_LOOSE) {
        lengths = rfn_start_lengths_of(pass->store, (uint32_t)step->context, (uint32_t)step->put_as,
                                       &step->stored);
    } else {
        RFN_TRY(rfn_column_next(&pass->lengths, &length));
        lengths = rfn_start_lengths_alone(length);
    }
    RFN_TRY(rfn_column_next(&pass->lateness, &late));
    step->correction = rfn_start_correct(pass->starts, &place->start, &lengths, late);
    place->corrections += step->correction != 0;
    return 0;
}

static int append(struct pass *pass, struct rfn_execution_list *list, int64_t value)
{
    return pass->coder ? rfn_list_put(&list->coded, value, pass->coder)
                       : rfn_column_append(&list->rest, value);
}

/* The context's next number, of what the store has as `stored` - 1; 0: of a loose one. */
static int add_number(struct pass *pass, struct rfn_execution_context *context,
                      const struct step *step, uint32_t stored)
{
    RFN_TRY(RFN_GROW(context->stored, context->stored_capacity, context->n + (size_t)1));
    RFN_TRY(rfn_column_append(&pass->lists->firsts, step->context));
    context->stored[context->n++] = stored;
    return 0;
}

/* The number in the list of what is executed. */
static int find_number(struct pass *pass, struct rfn_execution_context *context,
                       const struct step *step, uint32_t *number)
{
    *number = context->n;
    if (step->put_as == RFN_EXECUTED_LOOSE)
        return add_number(pass, context, step, 0);
    RFN_TRY(
        RFN_GROW_ZEROED(context->number_of, context->number_of_capacity, step->stored + (size_t)1));
    if (!context->number_of[step->stored]) {
        RFN_TRY(add_number(pass, context, step, step->stored + 1));
        context->number_of[step->stored] = context->n;
    }
    *number = context->number_of[step->stored] - 1;
    return 0;
}

/* Of a segment that is in the lists of representatives only the correction is new. */
static int take_segment(struct pass *pass)
{
    struct rfn_execution_lists *lists = pass->lists;
    bool listed = rfn_column_at(&pass->order) < lists->n;
    struct step step;
    uint32_t number;
    RFN_TRY(read_segment(pass, &step));
    if (step.context == RFN_EXECUTED_TOP) {
        RFN_TRY(rfn_column_append(&lists->top, step.correction));
        if (!listed)
            RFN_TRY(rfn_column_append(&lists->firsts, RFN_EXECUTED_TOP));
    } else {
        struct rfn_execution_context *context = &lists->contexts[step.context];
        RFN_TRY(append(pass, &context->columns.correction, step.correction));
        if (!listed) {
            RFN_TRY(find_number(pass, context, &step, &number));
            RFN_TRY(append(pass, &context->columns.representative, number));
        }
    }
    lists->n += !listed;
    return 0;
}

/* Values that are appended between two looks at what columns take. */
static uint64_t look_every(const struct rfn_execution_lists *lists)
{
    return 1024 + 4 * (uint64_t)lists->n_contexts;
}

/* To the end. room: of the columns that grow on the way; NULL: somebody else looks after it. */
static int go_over(struct pass *pass, const struct rfn_held_segments *segments,
                   struct rfn_room *room)
{
    RFN_TRY(make_contexts(pass->lists, segments->n_contexts));
    int error = open_pass(pass, segments);
    while (!error && rfn_column_at(&pass->order) < pass->order.n) {
        if (room && rfn_column_at(&pass->order) % look_every(pass->lists) == 0)
            rfn_columns_keep_to(pass->lists, rfn_execution_lists_each_column, room);
        error = take_segment(pass);
    }
    struct rfn_corrected *place = &pass->lists->corrected;
    place->segments = rfn_column_at(&pass->order);
    place->numbers = rfn_column_at(&pass->number);
    place->lengths = rfn_column_at(&pass->lengths);
    rfn_column_close(&pass->order);
    rfn_column_close(&pass->number);
    rfn_column_close(&pass->lateness);
    rfn_column_close(&pass->lengths);
    return error;
}

/* ---- before the end ---- */

static bool is_changed(const struct rfn_execution_lists *lists,
                       const struct rfn_representative_store *store)
{
    return lists->n && lists->forwarded != rfn_representative_store_forwarded(store);
}

void rfn_execution_lists_code(struct rfn_execution_lists *lists,
                              const struct rfn_held_segments *segments,
                              const struct rfn_start_rule *starts,
                              struct rfn_representative_store *store)
{
    enum { TIMES = 3 }; /* that all segments may be gone over, where lists begin anew */
    struct rfn_coder_memory coder = {0};
    struct pass pass = {.lists = lists, .starts = starts, .store = store, .coder = &coder};
    const uint64_t n = segments->order->n;
    if (is_changed(lists, store))
        begin_anew(lists, store);
    lists->forwarded = rfn_representative_store_forwarded(store);
    if (lists->given_up || (!lists->n && lists->gone_over / TIMES > n))
        return;
    const bool again = n >= 2 * lists->frozen_at;
    rfn_representative_store_freeze(store, again);
    for (size_t i = 0; i < lists->n_contexts && again; i++)
        rfn_list_release(&lists->contexts[i].columns.correction.coded);
    if (again) {
        rfn_column_release(&lists->top);
        lists->corrected = (struct rfn_corrected){0};
        lists->frozen_at = n;
    }
    lists->gone_over += n - lists->n;
    int error = go_over(&pass, segments, NULL);
    rfn_coder_memory_release(&coder);
    if (error)
        rfn_execution_lists_give_up(lists, store);
}

/* ---- the end ---- */

/* What is known of representatives only now. */
static int describe_all(struct rfn_execution_lists *lists,
                        const struct rfn_representative_store *store, struct rfn_room *room)
{
    uint64_t described = 0;
    for (uint32_t i = 0; i < lists->n_contexts; i++) {
        struct rfn_execution_context *context = &lists->contexts[i];
        for (uint32_t k = 0; k < context->n; k++) {
            struct rfn_representative is = {0};
            if (context->stored[k])
                is = rfn_representative_store_representative(store, i, context->stored[k] - 1);
            RFN_TRY(rfn_column_append(&context->columns.pace, is.pace - is.length));
            RFN_TRY(rfn_column_append(&context->columns.kept, is.executions > 1));
        }
        described += context->n;
        if (described >= look_every(lists)) {
            rfn_columns_keep_to(lists, rfn_execution_lists_each_column, room);
            described = 0;
        }
    }
    return 0;
}

int rfn_execution_lists_finish(struct rfn_execution_lists *lists,
                               const struct rfn_held_segments *segments,
                               const struct rfn_start_rule *starts,
                               struct rfn_representative_store *store, const struct rfn_room *room)
{
    struct pass pass = {.lists = lists, .starts = starts, .store = store};
    struct rfn_room left = *room;
    if (is_changed(lists, store) || segments->order->n >= 2 * lists->n)
        begin_anew(lists, store);
    rfn_representative_store_finish(store);
    RFN_TRY(go_over(&pass, segments, &left));
    return describe_all(lists, store, &left);
}
