#include "archive/write/record_limits.h"

#include "refrain/recording.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 64 };

/* Without MPI_. They are of no communicator's order, make and complete no request, and handles that
 * they make are definitions, or are named by number. */
static const char local[] =
    "Add_error_class Add_error_code Add_error_string Address Alloc_mem Attr_delete Attr_get "
    "Attr_put Cart_coords Cart_get Cart_map Cart_rank Cart_shift Cartdim_get Comm_compare "
    "Comm_create_errhandler Comm_create_keyval Comm_delete_attr Comm_free_keyval Comm_get_attr "
    "Comm_get_errhandler Comm_get_info Comm_get_name Comm_rank Comm_remote_size Comm_set_attr "
    "Comm_set_errhandler Comm_set_name Comm_size Comm_test_inter Dims_create "
    "Dist_graph_neighbors Dist_graph_neighbors_count Errhandler_create Errhandler_free "
    "Errhandler_get Errhandler_set Error_class Error_string File_create_errhandler "
    "File_get_errhandler File_set_errhandler Finalized Free_mem Get_address Get_count "
    "Get_elements Get_elements_x Get_library_version Get_processor_name Get_version Graph_get "
    "Graph_map Graph_neighbors Graph_neighbors_count Graphdims_get Info_create Info_create_env "
    "Info_delete Info_dup Info_free Info_get Info_get_nkeys Info_get_nthkey Info_get_string "
    "Info_get_valuelen Info_set Initialized Is_thread_main Keyval_create Keyval_free "
    "Op_commutative Op_create Op_free Pack Pack_external Pack_external_size Pack_size "
    "Query_thread Reduce_local Session_create_errhandler Status_set_cancelled "
    "Status_set_elements Status_set_elements_x Test_cancelled Topo_test Type_commit "
    "Type_contiguous Type_create_darray Type_create_f90_complex Type_create_f90_integer "
    "Type_create_f90_real Type_create_hindexed Type_create_hindexed_block Type_create_hvector "
    "Type_create_indexed Type_create_indexed_block Type_create_keyval Type_create_resized "
    "Type_create_struct Type_create_subarray Type_delete_attr Type_dup Type_extent Type_free "
    "Type_free_keyval Type_get_attr Type_get_contents Type_get_envelope Type_get_extent "
    "Type_get_extent_x Type_get_name Type_get_true_extent Type_get_true_extent_x Type_hindexed "
    "Type_hvector Type_indexed Type_lb Type_match_size Type_set_attr Type_set_name Type_size "
    "Type_size_x Type_struct Type_ub Type_vector Unpack Unpack_external Win_create_errhandler "
    "Win_create_keyval Win_free_keyval";

static const char polls[] =
    "Improbe Iprobe Parrived Request_get_status Test Testall Testany Testsome Win_test";

/* ---- functions ---- */

static bool has_word(const char *words, const char *word, size_t length)
{
    for (const char *at = words; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strcspn(at, " ") == length && memcmp(at, word, length) == 0)
            return true;
    }
    return false;
}

/* A large-count form is left out as its base is. */
enum rfn_may_leave rfn_may_be_left_out(const char *function)
{
    if (strncmp(function, "MPI_", 4) != 0)
        return RFN_STAYS;
    const char *name = function + 4;
    const size_t length = strlen(name);
    const bool large = length > 2 && strcmp(name + length - 2, "_c") == 0;
    if (has_word(polls, name, length))
        return RFN_FAILED_MAY_BE_LEFT_OUT;
    return has_word(local, name, length) || (large && has_word(local, name, length - 2))
               ? RFN_MAY_BE_LEFT_OUT
               : RFN_STAYS;
}

static bool fits_some(const char *pattern, const char *words)
{
    char name[NAME_SIZE] = "MPI_";
    for (const char *at = words; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        const size_t n = strcspn(at, " ");
        memcpy(name + 4, at, n);
        name[4 + n] = 0;
        if (rfn_function_wanted(pattern, name, NULL))
            return true;
    }
    return false;
}

#define MAY_BE_LEFT_OUT                                                                        \
    "polls without success (MPI_Iprobe, MPI_Test*) and calls without a message, a request, a " \
    "group or a part in a collective call (MPI_Comm_rank, MPI_Type_*, MPI_Get_count)"

/* One pattern of functions, without a !. */
static int check_function(const char *text, size_t length, struct rfn_diag *diag)
{
    char pattern[NAME_SIZE];
    const bool fits = length < sizeof pattern;
    memcpy(pattern, text, fits ? length : 0);
    pattern[fits ? length : 0] = 0;
    if (fits && length &&
        (rfn_may_be_left_out(pattern) || fits_some(pattern, local) || fits_some(pattern, polls)))
        return 0;
    if (fits && strncmp(pattern, "MPI_", 4) == 0 && !strpbrk(pattern, "*?"))
        return rfn_fail(
            diag, RFN_E_USAGE, -1, -1,
            "%s has to stay: readers match messages, requests and collective calls by "
            "their order, and would join wrong ones; what may be left out are " MAY_BE_LEFT_OUT,
            pattern);
    return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                    "'%.*s' fits no function that may be left out; these are " MAY_BE_LEFT_OUT,
                    (int)length, text);
}

/* ---- --include, --exclude ---- */

/* One condition as --sample-where has it. */
static int check_condition(const char *text, size_t length, bool *function, struct rfn_diag *diag)
{
    *function = !memchr(text, '=', length);
    if (*function && *text == '!')
        return length > 1 ? 0 : check_function("", 0, diag);
    if (*function)
        return check_function(text, length, diag);
    if (strncmp(text, "path=", 5) == 0 || strncmp(text, "file=", 5) == 0)
        return 0;
    return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                    "'%.*s' is neither a pattern of MPI functions nor path=PATTERN or file=PATTERN",
                    (int)length, text);
}

int rfn_limited_calls_parse(const char *text, struct rfn_sample_where *where, struct rfn_diag *diag)
{
    static const char key[] = "function=";
    char *full = calloc(strlen(text) + 1, sizeof key), *end = full; /* each may be only a comma */
    int error = full ? 0 : RFN_E_NOMEM;
    *where = (struct rfn_sample_where){.most_bytes = UINT64_MAX};
    for (const char *at = text; at && !error; at = strchr(at, ',')) {
        bool function;
        at += *at == ',' && at > text;
        const size_t n = strcspn(at, ",");
        error = check_condition(at, n, &function, diag);
        if (error)
            break;
        if (end > full)
            *end++ = ',';
        if (function) {
            memcpy(end, key, sizeof key - 1);
            end += sizeof key - 1;
        }
        memcpy(end, at, n);
        end += n;
    }
    if (!error)
        error = rfn_sample_where_parse(full, where, diag);
    free(full);
    return error;
}

/* ---- --max-calls-per-second ---- */

/* FUNCTION:N at *at; moves on behind it. 0: it is none. */
static uint64_t read_rate(const char **at, const char **pattern, size_t *length)
{
    const char *end = *at + strcspn(*at, ","), *colon = memchr(*at, ':', (size_t)(end - *at));
    char number[16] = "";
    *pattern = *at;
    *length = colon ? (size_t)(colon - *at) : 0;
    *at = *end ? end + 1 : NULL;
    if (!colon || (size_t)(end - colon) > sizeof number)
        return 0;
    memcpy(number, colon + 1, (size_t)(end - colon - 1));
    const uint64_t rate = rfn_function_rate_parse(number);
    return rate == UINT64_MAX ? 0 : rate;
}

uint64_t rfn_limited_rate(const char *text, const char *function)
{
    uint64_t found = UINT64_MAX;
    for (const char *at = text, *pattern; at;) {
        char copy[NAME_SIZE];
        size_t length;
        const uint64_t rate = read_rate(&at, &pattern, &length);
        if (length >= sizeof copy)
            continue;
        memcpy(copy, pattern, length);
        copy[length] = 0;
        if (rfn_function_wanted(copy, function, NULL))
            found = rate;
    }
    return found;
}

int rfn_limited_rates_check(const char *text, struct rfn_diag *diag)
{
    for (const char *at = text, *pattern; at;) {
        const char *item = at;
        size_t length;
        if (!read_rate(&at, &pattern, &length))
            return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                            "'%.*s' is no FUNCTION:N with a number N from 1 to 1000000000, as in "
                            "MPI_Iprobe:100",
                            (int)strcspn(item, ","), item);
        RFN_TRY(check_function(pattern, length, diag));
    }
    return 0;
}

/* ---- --from, --until ---- */

enum { NUMBER_MAX = 1000000000 };

/* A number up to 10^9 at *text; moves on behind it. Negative: it is none. */
static int64_t read_number(const char **text)
{
    const size_t n = strspn(*text, "0123456789");
    const int64_t number = n > 0 && n < 11 ? strtoll(*text, NULL, 10) : -1;
    *text += n;
    return number <= NUMBER_MAX ? number : -1;
}

/* A whole number of some unit, in ns. Negative: it is none. */
static int64_t read_time(const char *text)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"", 1000000000}, {"s", 1000000000},      {"ms", 1000000},       {"us", 1000},
                 {"ns", 1},        {"min", 60000000000LL}, {"h", 3600000000000LL}};
    const int64_t number = read_number(&text);
    for (size_t i = 0; number > 0 && i < sizeof units / sizeof *units; i++) {
        if (strcmp(text, units[i].name) == 0)
            return number <= INT64_MAX / units[i].ns ? number * units[i].ns : -1;
    }
    return -1;
}

bool rfn_until_parse(const char *text, struct rfn_until *until)
{
    const bool segment = strncmp(text, "segment=", 8) == 0, level = strncmp(text, "level=", 6) == 0;
    until->kind = segment ? RFN_UNTIL_SEGMENT : level ? RFN_UNTIL_LEVEL : RFN_UNTIL_TIME;
    if (until->kind == RFN_UNTIL_TIME)
        return (until->number = read_time(text)) > 0;
    text = strchr(text, '=') + 1;
    until->number = read_number(&text);
    return until->number >= (segment ? 1 : 0) && !*text;
}

bool rfn_from_parse(const char *text, struct rfn_until *from)
{
    return rfn_until_parse(text, from) && from->kind != RFN_UNTIL_TIME && from->number > 0;
}
