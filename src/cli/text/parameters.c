#include "cli/text/parameters.h"

#include "refrain/event.h"

/* ---- words ---- */

static void append_request(struct rfn_text *text, int64_t word)
{
    static const char *const forms[] = {"", "recent:", "slot:", "foreign:"};
    if (word <= RFN_REQUEST_NULL) {
        rfn_text_string(text, word == RFN_REQUEST_NULL ? "null" : "UNKNOWN");
        return;
    }
    int64_t value = word >> 2;
    rfn_text_string(text, forms[word & 3]);
    if ((word & 3) == RFN_REQUEST_FOREIGN) { /* thread and number */
        rfn_text_signed(text, value & ((1 << RFN_FOREIGN_BITS) - 1));
        rfn_text_char(text, '.');
        value >>= RFN_FOREIGN_BITS;
    }
    rfn_text_signed(text, value);
}

/* Names of special numbers; NULL if the word is an ordinary number of its kind. */
static const char *special_name(uint8_t kind, int64_t word, bool unknown)
{
    if (word == RFN_UNDEFINED)
        return "UNDEFINED";
    if (word == RFN_UNKNOWN &&
        (unknown || kind == RFN_KIND_RANK || kind == RFN_KIND_TAG || kind == RFN_KIND_COUNT))
        return "UNKNOWN";
    if (kind == RFN_KIND_TAG && word == RFN_ANY)
        return "ANY_TAG";
    if (kind != RFN_KIND_RANK)
        return NULL;
    return word == RFN_ANY         ? "ANY_SOURCE"
           : word == RFN_PROC_NULL ? "PROC_NULL"
           : word == RFN_ROOT      ? "ROOT"
                                   : NULL;
}

/* The name of a word that has one; NULL. */
static const char *name_of(const struct rfn_archive *archive, uint8_t kind, int64_t word)
{
    static const char *const buffers[] = {"PLAIN", "IN_PLACE", "BOTTOM", "NULL"};
    enum rfn_comm_kind comm;
    switch (kind) {
    case RFN_KIND_TYPE:
        if (word >= 0 && word < rfn_archive_datatypes(archive))
            return rfn_archive_datatype(archive, (uint32_t)word)->name;
        return word == -1 ? "MPI_DATATYPE_NULL" : "UNKNOWN";
    case RFN_KIND_COMM:
        if (word < 0 || word >= rfn_archive_comms(archive))
            return word == -1 ? "MPI_COMM_NULL" : "UNKNOWN";
        comm = rfn_archive_comm(archive, (uint32_t)word)->kind;
        return comm == RFN_COMM_WORLD ? "world" : comm == RFN_COMM_SELF ? "self" : NULL;
    case RFN_KIND_REGION:
        return word >= 0 && word < rfn_archive_regions(archive)
                   ? rfn_archive_region(archive, (uint32_t)word)
                   : "UNKNOWN";
    case RFN_KIND_BUFFER:
        return word >= 0 && word <= RFN_BUFFER_NULL ? buffers[word] : "UNKNOWN";
    default:
        return NULL;
    }
}

static void append_scalar(struct rfn_text *text, const struct rfn_archive *archive, uint8_t kind,
                          int64_t word, bool unknown)
{
    static const char *const handles[] = {
        [RFN_KIND_OP] = "op#",           [RFN_KIND_GROUP] = "group#",
        [RFN_KIND_INFO] = "info#",       [RFN_KIND_ERRHANDLER] = "errhandler#",
        [RFN_KIND_WIN] = "win#",         [RFN_KIND_FILE] = "file#",
        [RFN_KIND_SESSION] = "session#", [RFN_KIND_MESSAGE] = "message#",
        [RFN_KIND_KEYVAL] = "keyval#",
    };
    const char *special = special_name(kind, word, unknown);
    const char *name = special ? NULL : name_of(archive, kind, word);
    bool handle = kind >= RFN_KIND_OP && kind <= RFN_KIND_KEYVAL;
    if (special) {
        rfn_text_string(text, special);
    } else if (kind == RFN_KIND_TYPE) {
        for (; *name; name++)
            rfn_text_escaped(text, name, *name != ' ');
    } else if (kind == RFN_KIND_REGION) {
        rfn_text_escaped(text, name, strlen(name));
    } else if (name) {
        rfn_text_string(text, name);
    } else if (kind == RFN_KIND_REQUEST) {
        append_request(text, word);
    } else if (handle && word < 0) {
        name = word >= -256 ? rfn_kind_predefined(kind, (unsigned)(-1 - word)) : NULL;
        rfn_text_string(text, name ? name : "UNKNOWN");
    } else {
        if (handle || kind == RFN_KIND_COMM)
            rfn_text_string(text, handle ? handles[kind] : "comm#");
        rfn_text_signed(text, word);
    }
}

/* Lists that have no number of their own. */
static const char *special_list(int64_t word)
{
    switch (word) {
    case RFN_LIST_ABSENT:
        return "NULL";
    case RFN_LIST_UNWEIGHTED:
        return "UNWEIGHTED";
    case RFN_LIST_WEIGHTS_EMPTY:
        return "WEIGHTS_EMPTY";
    case RFN_UNDEFINED:
        return "UNDEFINED";
    default:
        return word < 0 ? "UNKNOWN" : NULL;
    }
}

/* The bytes of a string, each of which is a word. */
static void append_string(struct rfn_text *text, const int64_t *words, size_t n)
{
    struct rfn_text bytes = {0};
    for (size_t i = 0; i < n; i++)
        rfn_text_char(&bytes, (char)words[i]);
    rfn_text_escaped(text, bytes.data, bytes.n);
    text->failed |= bytes.failed;
    rfn_text_release(&bytes);
}

/* One word of a kind (rfn_kind, without COMPLETIONS). unknown: RFN_UNKNOWN is meant as such where
 * the kind has it as a number, too. */
static void append_word(struct rfn_text *text, const struct rfn_parameters *parameters,
                        uint8_t kind, int64_t word, bool unknown)
{
    uint8_t element = (uint8_t)(kind & ~RFN_KIND_LIST);
    bool string = kind == RFN_KIND_STRING;
    if (!(kind & RFN_KIND_LIST) && !string) {
        append_scalar(text, parameters->archive, kind, word, unknown);
        return;
    }
    const char *name = special_list(word);
    if (name) {
        rfn_text_string(text, name);
        return;
    }
    size_t n = 0;
    const int64_t *words = rfn_cursor_list(parameters->cursor, word, &n, element);
    if (string) {
        append_string(text, words, n);
        return;
    }
    rfn_text_char(text, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            rfn_text_char(text, ',');
        append_scalar(text, parameters->archive, element, words[i], false);
    }
    rfn_text_char(text, ']');
}

/* ---- parameters ---- */

/* Begins name=; a space before it unless it is the first. */
static void begin(struct rfn_text *text, const char *name)
{
    if (text->n && text->data[text->n - 1] != '\t')
        rfn_text_char(text, ' ');
    rfn_text_string(text, name);
    rfn_text_char(text, '=');
}

static void append_number(struct rfn_text *text, const char *name, int64_t value)
{
    begin(text, name);
    rfn_text_signed(text, value);
}

/* An MPI error class, or that the program has left the call. */
static void append_error_class(struct rfn_text *text, uint32_t error)
{
    if (error == RFN_ERROR_LEFT)
        rfn_text_string(text, "left");
    else
        rfn_text_unsigned(text, error);
}

static void append_error(struct rfn_text *text, const char *name, uint32_t error)
{
    begin(text, name);
    append_error_class(text, error);
}

static void append_named(struct rfn_text *text, const struct rfn_parameters *parameters,
                         const char *name, uint8_t kind, int64_t word)
{
    begin(text, name);
    append_word(text, parameters, kind, word, false);
}

/* message: source and tag are those of a message that has come with this call. */
static void append_inputs(struct rfn_text *text, const struct rfn_parameters *parameters,
                          const struct rfn_function_info *function, bool message)
{
    const struct rfn_record *record = parameters->record;
    struct rfn_posted posted = rfn_volume_posted(parameters->volumes, record->function);
    for (int i = 0; i < function->n_in; i++) {
        const struct rfn_param_info *param = &function->params[i];
        int64_t word = record->in[i];
        /* Ordinary buffers, and what is not significant on this rank (at another than the root). */
        if (param->kind == RFN_KIND_BUFFER
                ? word == RFN_BUFFER_PLAIN || word < 0
                : word == RFN_UNKNOWN &&
                      (param->kind == RFN_KIND_COUNT || param->kind == RFN_KIND_TYPE))
            continue;
        if (message && i == posted.source)
            word = parameters->volume->source;
        if (message && i == posted.tag)
            word = parameters->volume->tag;
        append_named(text, parameters, param->name, param->kind, word);
    }
    /* Where no input is called so: Sendrecv's recvtag, Mrecv. */
    if (message && posted.source < 0)
        append_named(text, parameters, "source", RFN_KIND_RANK, parameters->volume->source);
    if (message && (posted.tag < 0 || strcmp(function->params[posted.tag].name, "tag") != 0))
        append_named(text, parameters, "tag", RFN_KIND_TAG, parameters->volume->tag);
}

static void append_outcomes(struct rfn_text *text, const struct rfn_parameters *parameters,
                            const struct rfn_function_info *function, bool message)
{
    const struct rfn_record *record = parameters->record;
    const struct rfn_volume *volume = parameters->volume;
    bool bytes = volume && (volume->sent_bytes >= 0 || volume->received_bytes >= 0);
    for (int i = 0; i < function->n_out && !record->failed_poll; i++) {
        const struct rfn_param_info *param = &function->params[function->n_in + i];
        /* Of a message or file access, and completions: they are told in another way. */
        if (param->kind == RFN_KIND_COMPLETIONS ||
            (message && (param->kind == RFN_KIND_RANK || param->kind == RFN_KIND_TAG)) ||
            (param->kind == RFN_KIND_BYTES && (message || bytes)))
            continue;
        begin(text, param->name);
        append_word(text, parameters, param->kind, record->out[i],
                    record->error || param->kind == RFN_KIND_BYTES);
    }
}

/* ---- requests ---- */

static void append_received(struct rfn_text *text, const struct rfn_parameters *parameters,
                            const struct rfn_volume *volume, char separator)
{
    rfn_text_string(text, "source=");
    append_word(text, parameters, RFN_KIND_RANK, volume->source, false);
    rfn_text_char(text, separator);
    rfn_text_string(text, "tag=");
    append_word(text, parameters, RFN_KIND_TAG, volume->tag, false);
    if (volume->received_bytes < 0)
        return;
    rfn_text_char(text, separator);
    rfn_text_string(text, "bytes=");
    rfn_text_signed(text, volume->received_bytes);
}

/* The completion of a call for one request. */
static void append_single(struct rfn_text *text, const struct rfn_parameters *parameters,
                          const struct rfn_completed *completed)
{
    if (completed->cancelled)
        append_number(text, "cancelled", 1);
    if (completed->error)
        append_error(text, "request_error", completed->error);
    if (!completed->origin->receives || completed->cancelled)
        return;
    rfn_text_char(text, ' ');
    append_received(text, parameters, completed->origin->volume, ' ');
}

static void append_entry(struct rfn_text *text, const struct rfn_parameters *parameters,
                         const struct rfn_completed *completed)
{
    rfn_text_unsigned(text, completed->position);
    if (completed->cancelled) {
        rfn_text_string(text, "(cancelled)");
    } else if (completed->error) {
        rfn_text_string(text, "(error=");
        append_error_class(text, completed->error);
        rfn_text_char(text, ')');
    } else if (completed->origin->receives) {
        rfn_text_char(text, '(');
        append_received(text, parameters, completed->origin->volume, ',');
        rfn_text_char(text, ')');
    }
}

/* Sums of what a damaged archive says do not overflow. Both are not negative. */
static int64_t add_bytes(int64_t bytes, int64_t more)
{
    return more > INT64_MAX - bytes ? INT64_MAX : bytes + more;
}

static void append_completed(struct rfn_text *text, const struct rfn_parameters *parameters)
{
    const struct rfn_request_effects *effects = parameters->effects;
    int64_t bytes = 0;
    bool received = false;
    begin(text, "completed");
    rfn_text_char(text, '[');
    for (size_t i = 0; i < effects->n_completed; i++) {
        const struct rfn_completed *completed = &effects->completed[i];
        if (i)
            rfn_text_char(text, ',');
        append_entry(text, parameters, completed);
        if (completed->origin->receives && !completed->cancelled &&
            completed->origin->volume->received_bytes >= 0) {
            bytes = add_bytes(bytes, completed->origin->volume->received_bytes);
            received = true;
        }
    }
    rfn_text_char(text, ']');
    if (received)
        append_number(text, "bytes", bytes);
}

/* Whether a call completes at most one request: it has one, or tells an index. */
static bool completes_one(const struct rfn_function_info *function)
{
    for (int i = 0; i < function->n_in; i++) {
        if (function->params[i].kind == RFN_KIND_REQUEST)
            return true;
    }
    for (int i = 0; i < function->n_out; i++) {
        if (function->params[function->n_in + i].kind == RFN_KIND_INT)
            return true;
    }
    return false;
}

static void append_started(struct rfn_text *text, const struct rfn_parameters *parameters)
{
    int64_t bytes = 0;
    bool sends = false;
    for (size_t i = 0; i < parameters->effects->n_started; i++) {
        const struct rfn_request_origin *origin = parameters->effects->started[i];
        int64_t size = rfn_volume_bytes(parameters->volumes, origin->function, origin->volume);
        if (origin->receives || size < 0)
            continue;
        bytes = add_bytes(bytes, size);
        sends = true;
    }
    if (sends)
        append_number(text, "bytes", bytes);
}

/* What the call communicates itself. A receive that has only been asked for has no bytes yet, a
 * persistent request not before its start. */
static void append_bytes(struct rfn_text *text, const struct rfn_parameters *parameters,
                         const struct rfn_function_info *function)
{
    const struct rfn_volume *volume = parameters->volume;
    bool nonblocking = function->flags & RFN_FUNCTION_NONBLOCKING;
    int64_t bytes = rfn_volume_bytes(parameters->volumes, parameters->record->function, volume);
    if (function->flags & RFN_FUNCTION_PERSISTENT)
        return;
    if (function->class_ == RFN_CLASS_SENDRECV) {
        append_number(text, "sent_bytes", volume->sent_bytes);
        if (nonblocking)
            return;
    }
    if (bytes >= 0 && !(nonblocking && function->class_ == RFN_CLASS_RECV))
        append_number(text, "bytes", bytes);
}

void rfn_parameters_append(struct rfn_text *text, const struct rfn_parameters *parameters)
{
    const struct rfn_record *record = parameters->record;
    const struct rfn_function_info *function = rfn_archive_function(parameters->archive,
                                                                    record->function);
    bool receives = function->class_ == RFN_CLASS_RECV || function->class_ == RFN_CLASS_SENDRECV ||
                    function->class_ == RFN_CLASS_PROBE;
    bool message = receives && parameters->volume && !record->error &&
                   !(function->flags & (RFN_FUNCTION_NONBLOCKING | RFN_FUNCTION_PERSISTENT));
    append_inputs(text, parameters, function, message);
    append_outcomes(text, parameters, function, message);
    if (function->class_ == RFN_CLASS_COMPLETION && !record->failed_poll) {
        if (!completes_one(function))
            append_completed(text, parameters);
        else if (parameters->effects->n_completed)
            append_single(text, parameters, &parameters->effects->completed[0]);
    }
    append_started(text, parameters);
    if (parameters->volume)
        append_bytes(text, parameters, function);
    if (record->error)
        append_error(text, "error", record->error);
    if (record->failed_poll)
        append_number(text, "polls", (int64_t)record->polls);
}
