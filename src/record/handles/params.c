/* Strings and lists as words: copied into the call's scratch, then interned by the stream. */
#include "record/handles/params.h"
#include "record/core/tables.h"
#include "record/handles/comms.h"
#include "record/handles/types.h"

#include <stdlib.h>
#include <string.h>

bool rec_make_room(void **array, uint32_t *capacity, int64_t n, size_t size, const char *what)
{
    uint64_t larger = (uint64_t)n + (uint64_t)n / 2 + 16;
    void *more = larger <= UINT32_MAX ? realloc(*array, larger * size) : NULL;
    if (!more) {
        rec_stop("out of memory for %lld %s", (long long)n, what);
        return false;
    }
    *array = more;
    *capacity = (uint32_t)larger;
    return true;
}

int64_t *rec_words(struct rec_call *call, int64_t n)
{
    bool room = REC_ROOM(call->scratch.words, call->scratch.words_capacity, n, "parameters");
    return room ? call->scratch.words : NULL;
}

static int64_t list(struct rec_call *call, const int64_t *words, int64_t n)
{
    if (call->no_lists)
        return 0;
    return words ? rfn_stream_list(rec_stream_of(call)->events, words, (size_t)n) : RFN_LIST_ABSENT;
}

static int64_t string(struct rec_call *call, const char *text)
{
    if (!text)
        return RFN_LIST_ABSENT;
    int64_t n = (int64_t)strlen(text);
    int64_t *words = rec_words(call, n);
    for (int64_t i = 0; words && i < n; i++)
        words[i] = (unsigned char)text[i];
    /* Also when no event comes of it: identities of communicators are made from strings. */
    return words ? rfn_stream_list(rec_stream_of(call)->events, words, (size_t)n) : RFN_LIST_ABSENT;
}

void rec_in_string(struct rec_call *call, const char *text)
{
    if (call->function == REC_FN_MPI_Comm_set_name)
        rec_comm_named(call, text);
    rec_push_in(call, string(call, text));
}

void rec_out_string(struct rec_call *call, const char *text)
{
    rec_push_out(call, call->no_lists ? 0 : string(call, text));
}

/* Words for n > 0 elements of an array, or NULL after having pushed what stands for the array. */
static int64_t *begin_list(struct rec_call *call, const void *array, int64_t n)
{
    const void *unweighted = MPI_UNWEIGHTED, *empty = MPI_WEIGHTS_EMPTY;
    int64_t special = n <= 0 ? 0 : RFN_LIST_ABSENT;
    /* SMPI's MPI_UNWEIGHTED is a null pointer: absent is as good. */
    if (array && array == unweighted)
        special = RFN_LIST_UNWEIGHTED;
    else if (array && array == empty)
        special = RFN_LIST_WEIGHTS_EMPTY;
    else if (array && n > 0) {
        int64_t *words = rec_words(call, n);
        if (words)
            return words;
    } else if (!array) {
        special = RFN_LIST_ABSENT;
    }
    rec_push_in(call, special);
    return NULL;
}

#define LIST_FUNCTION(name, type, word_of)                                   \
    void rec_in_##name(struct rec_call *call, const type *values, int64_t n) \
    {                                                                        \
        int64_t *words = begin_list(call, values, n);                        \
        if (!words)                                                          \
            return;                                                          \
        for (int64_t i = 0; i < n; i++)                                      \
            words[i] = word_of(values[i]);                                   \
        rec_push_in(call, list(call, words, n));                             \
    }

LIST_FUNCTION(ints, int, (int64_t))
LIST_FUNCTION(counts, MPI_Count, (int64_t))
LIST_FUNCTION(aints, MPI_Aint, (int64_t))
LIST_FUNCTION(ranks, int, rec_rank_word)
LIST_FUNCTION(types, MPI_Datatype, rec_type_word)
LIST_FUNCTION(infos, MPI_Info, rec_info_word)

void rec_out_ints(struct rec_call *call, const int *values, int64_t n)
{
    int64_t word = RFN_UNKNOWN;
    if (rec_has_outcome(call)) {
        int64_t *words = values && n > 0 ? rec_words(call, n) : NULL;
        for (int64_t i = 0; words && i < n; i++)
            words[i] = values[i];
        word = !values ? RFN_LIST_ABSENT : n <= 0 ? 0 : list(call, words, n);
    }
    rec_push_out(call, word);
}
