/* The entries of debug information inside of a function with code of its own are walked once:
 *
 *   scopes   inlined functions and lexical blocks, each with the one around it, and
 *   spans    where their code lies
 *   sites    calls, each with its address
 *
 * Compilers differ in which entry a call site stands in (gcc: the innermost scope, clang: the
 * function), so that its address says which scope makes it. The owner of a call is the innermost
 * inlined function there, or the one with code of its own; inlined functions are calls, too, of
 * their owner. */
#include "event/source_calls.h"

#include "base/grow.h"
#include "event/symbolize_internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* Inlined code that has no such piece and calls nothing is done at once: accessors and the like. */
enum { WORK_BYTES = 32 };

enum { NO_SCOPE = -1, NO_SPAN = -1 };

struct scope {
    Dwarf_Die die;
    int parent;
    bool inlined; /* or the function itself; else a block */
    bool calls;   /* its code, or code inlined in it, contains a call */
    Dwarf_Addr begin;
    uint64_t bytes;               /* of the largest piece: an unrolled loop has several */
    struct rfn_source_loop lines; /* of the calls in a block */
};

/* Sorted by start, those around others first, when the walk is done. */
struct span {
    Dwarf_Addr start, end;
    int scope;
    int around; /* the span that holds this one */
};

struct site {
    Dwarf_Addr at, back; /* an address of the call, and where it returns to */
    const char *name;
    bool returns, library;
};

/* A call of the owner that is looked at. */
struct candidate {
    struct rfn_source_call call;
    Dwarf_Addr at;
    int scope; /* the innermost one that makes it */
    bool counts;
};

struct row {
    uint32_t line;
    Dwarf_Addr at;
};

struct code {
    Dwarf_Die *unit;
    Dwarf_Addr bias;
    const char *file;
    struct scope *scopes;
    struct span *spans;
    struct site *sites;
    struct candidate *candidates;
    struct row *rows;
    size_t n_scopes, n_spans, n_sites, n_candidates, n_rows;
    size_t scopes_room, spans_room, sites_room, candidates_room, rows_room;
    unsigned budget; /* entries to look at */
};

/* ---- the walk ---- */

static int add_scope(struct code *code, Dwarf_Die *die, int parent, bool inlined)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t next = 0;
    RFN_TRY(RFN_GROW(code->scopes, code->scopes_room, code->n_scopes + 1));
    struct scope *scope = &code->scopes[code->n_scopes];
    *scope = (struct scope){.die = *die, .parent = parent, .inlined = inlined, .begin = UINT64_MAX};
    while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0 && code->budget > 0) {
        code->budget--;
        RFN_TRY(RFN_GROW(code->spans, code->spans_room, code->n_spans + 1));
        code->spans[code->n_spans++] = (struct span){start, end, (int)code->n_scopes, NO_SPAN};
        scope->bytes = end - start > scope->bytes ? end - start : scope->bytes;
        scope->begin = start < scope->begin ? start : scope->begin;
    }
    code->n_scopes++;
    return 0;
}

static bool address_of(Dwarf_Die *die, unsigned name, Dwarf_Addr *address)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) && dwarf_formaddr(&attribute, address) == 0;
}

/* The C library's, the compiler's own, and what else comes with a system: seldom what a reader is
 * to look at where the program calls functions of its own. */
static bool is_library(Dwarf_Die *function)
{
    static const char system[] = "/usr/";
    const char *file = dwarf_decl_file(function);
    return !file || strncmp(file, system, strlen(system)) == 0;
}

/* DWARF 5, or what GNU had before. */
static int add_site(struct code *code, Dwarf_Die *die)
{
    struct site site = {.returns = true};
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    bool flag = false;
    if (address_of(die, DW_AT_call_return_pc, &site.back) ||
        address_of(die, DW_AT_low_pc, &site.back))
        site.at = site.back - 1;
    else if (address_of(die, DW_AT_call_pc, &site.at))
        site.back = site.at + 1;
    else
        return 0;
    if ((dwarf_attr(die, DW_AT_call_origin, &attribute) ||
         dwarf_attr(die, DW_AT_abstract_origin, &attribute)) &&
        dwarf_formref_die(&attribute, &origin)) {
        site.name = rfn_die_name(&origin);
        site.library = is_library(&origin);
        site.returns = !dwarf_attr_integrate(&origin, DW_AT_noreturn, &attribute) ||
                       dwarf_formflag(&attribute, &flag) != 0 || !flag;
    }
    RFN_TRY(RFN_GROW(code->sites, code->sites_room, code->n_sites + 1));
    code->sites[code->n_sites++] = site;
    return 0;
}

static int walk(struct code *code, Dwarf_Die *die, int scope, unsigned depth)
{
    Dwarf_Die child;
    if (depth == 0 || dwarf_child(die, &child) != 0)
        return 0;
    do {
        const int tag = dwarf_tag(&child);
        const bool inlined = tag == DW_TAG_inlined_subroutine;
        if (code->budget == 0)
            return 0;
        code->budget--;
        if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site)
            RFN_TRY(add_site(code, &child));
        if (!inlined && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
            tag != DW_TAG_catch_block)
            continue;
        const int number = (int)code->n_scopes;
        RFN_TRY(add_scope(code, &child, scope, inlined));
        RFN_TRY(walk(code, &child, number, depth - 1));
    } while (dwarf_siblingof(&child, &child) == 0);
    return 0;
}

/* ---- which scope code lies in ---- */

/* Scopes stand behind those around them. */
static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->scope < b->scope ? -1 : a->scope > b->scope;
}

/* The innermost of `span` and those around it that reaches beyond the address. */
static int reaching(const struct code *code, int span, Dwarf_Addr address)
{
    while (span != NO_SPAN && code->spans[span].end <= address)
        span = code->spans[span].around;
    return span;
}

static void sort_spans(struct code *code)
{
    if (code->n_spans)
        qsort(code->spans, code->n_spans, sizeof *code->spans, compare_spans);
    for (size_t i = 0; i < code->n_spans; i++)
        code->spans[i].around = reaching(code, (int)i - 1, code->spans[i].start);
}

static int innermost(const struct code *code, Dwarf_Addr address)
{
    size_t low = 0, high = code->n_spans;
    while (low < high) { /* spans before low start at or before address */
        const size_t middle = low + (high - low) / 2;
        if (code->spans[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const int span = reaching(code, (int)low - 1, address);
    return span == NO_SPAN ? NO_SCOPE : code->spans[span].scope;
}

static int owner_of(const struct code *code, int scope)
{
    while (scope != NO_SCOPE && !code->scopes[scope].inlined)
        scope = code->scopes[scope].parent;
    return scope;
}

/* ---- calls ---- */

static bool is_work(const char *name)
{
    static const char *const prefixes[] = {"MPI_", "PMPI_", "MPIX_", "mpi_", "pmpi_", "refrain_"};
    static const char *const little[] = {
        "malloc",  "calloc",        "realloc", "free",          "_Znwm",           "_Znam",
        "_ZdlPv",  "_ZdaPv",        "_ZdlPvm", "_ZdaPvm",       "printf",          "puts",
        "putchar", "time",          "clock",   "clock_gettime", "gettimeofday",    "getpid",
        "rand",    "omp_get_wtime", "strlen",  "strcmp",        "__errno_location"};
    for (size_t i = 0; name && i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return false;
    }
    for (size_t i = 0; name && i < sizeof little / sizeof *little; i++) {
        if (strcmp(name, little[i]) == 0)
            return false;
    }
    return true;
}

static int add_candidate(struct code *code, const struct candidate *candidate,
                         const struct rfn_source *source)
{
    if (!source->file || !source->line || strcmp(source->file, code->file) != 0)
        return 0;
    RFN_TRY(RFN_GROW(code->candidates, code->candidates_room, code->n_candidates + 1));
    struct candidate *added = &code->candidates[code->n_candidates++];
    *added = *candidate;
    added->call.line = source->line;
    added->call.offset += code->bias;
    added->counts = candidate->counts && is_work(candidate->call.function);
    return 0;
}

static int find_sites(struct code *code, int owner)
{
    for (size_t i = 0; i < code->n_sites; i++) {
        const struct site *site = &code->sites[i];
        const int scope = innermost(code, site->at);
        struct rfn_source source = {0};
        for (int s = scope; s != NO_SCOPE && site->returns; s = code->scopes[s].parent)
            code->scopes[s].calls = true;
        if (scope == NO_SCOPE || owner_of(code, scope) != owner)
            continue;
        rfn_die_line(code->unit, site->at, &source);
        RFN_TRY(add_candidate(
            code,
            &(struct candidate){
                .call = {.function = site->name, .offset = site->back, .library = site->library},
                .at = site->at,
                .scope = scope,
                .counts = site->returns},
            &source));
    }
    return 0;
}

static int find_inlined(struct code *code, int owner)
{
    for (size_t i = 1; i < code->n_scopes; i++) {
        struct scope *scope = &code->scopes[i];
        struct rfn_source source = {0};
        if (!scope->inlined || scope->bytes == 0 || owner_of(code, scope->parent) != owner)
            continue;
        rfn_die_call(code->unit, &scope->die, &source);
        RFN_TRY(
            add_candidate(code,
                          &(struct candidate){.call = {.function = rfn_die_name(&scope->die),
                                                       .offset = scope->begin,
                                                       .inlined = true,
                                                       .library = is_library(&scope->die)},
                                              .at = scope->begin,
                                              .scope = scope->parent,
                                              .counts = scope->calls || scope->bytes >= WORK_BYTES},
                          &source));
    }
    return 0;
}

static int compare_candidates(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->call.line != b->call.line)
        return a->call.line < b->call.line ? -1 : 1;
    return a->call.offset < b->call.offset ? -1 : a->call.offset > b->call.offset;
}

static bool same_call(const struct rfn_source_call *a, const struct rfn_source_call *b)
{
    bool same_name = a->function && b->function ? strcmp(a->function, b->function) == 0
                                                : a->function == b->function;
    return a->line == b->line && same_name;
}

/* Code that the compiler made several times is one call. */
static bool is_listed(const struct rfn_source_calls *calls, const struct rfn_source_call *call)
{
    for (size_t i = calls->n; i-- > 0 && calls->calls[i].line == call->line;) {
        if (same_call(&calls->calls[i], call))
            return true;
    }
    return false;
}

static void list_calls(const struct code *code, struct rfn_source_calls *calls)
{
    for (size_t i = 0; i < code->n_candidates; i++) {
        const struct candidate *candidate = &code->candidates[i];
        if (!candidate->counts || is_listed(calls, &candidate->call))
            continue;
        if (calls->n == RFN_SOURCE_CALLS_MAX) {
            calls->n = 0;
            return;
        }
        calls->calls[calls->n++] = candidate->call;
    }
}

/* ---- loops ---- */

static uint32_t lines_of(struct rfn_source_loop loop)
{
    return loop.last - loop.first;
}

/* The longest of too many are dropped. */
static void add_loop(struct rfn_source_calls *calls, struct rfn_source_loop loop)
{
    size_t at = calls->n_loops;
    for (size_t i = 0; i < calls->n_loops; i++) {
        if (calls->loops[i].first == loop.first && calls->loops[i].last == loop.last)
            return;
    }
    if (at == RFN_SOURCE_LOOPS_MAX && lines_of(calls->loops[at - 1]) <= lines_of(loop))
        return;
    at -= at == RFN_SOURCE_LOOPS_MAX;
    calls->n_loops = at + 1;
    for (; at > 0 && lines_of(calls->loops[at - 1]) > lines_of(loop); at--)
        calls->loops[at] = calls->loops[at - 1];
    calls->loops[at] = loop;
}

static void widen(struct rfn_source_loop *lines, uint32_t line)
{
    if (lines->last == 0)
        *lines = (struct rfn_source_loop){line, line};
    lines->first = line < lines->first ? line : lines->first;
    lines->last = line > lines->last ? line : lines->last;
}

static void find_blocks(struct code *code, int owner, struct rfn_source_calls *calls)
{
    for (size_t i = 0; i < code->n_candidates; i++) {
        for (int s = code->candidates[i].scope; s != owner; s = code->scopes[s].parent)
            widen(&code->scopes[s].lines, code->candidates[i].call.line);
    }
    for (size_t i = 0; i < code->n_scopes; i++) {
        if (code->scopes[i].lines.last)
            add_loop(calls, code->scopes[i].lines);
    }
}

/* The lines of the owner's code, where statements begin. */
static int add_rows(struct code *code, int owner, const struct span *span, Dwarf_Lines *lines,
                    size_t n)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        Dwarf_Addr at = 0;
        dwarf_lineaddr(dwarf_onesrcline(lines, middle), &at);
        if (at < span->start)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && code->budget > 0; low++, code->budget--) {
        Dwarf_Line *line = dwarf_onesrcline(lines, low);
        Dwarf_Addr at = 0;
        int number = 0;
        bool begins = false;
        dwarf_lineaddr(line, &at);
        if (at >= span->end)
            break;
        dwarf_linebeginstatement(line, &begins);
        dwarf_lineno(line, &number);
        const char *file = dwarf_linesrc(line, NULL, NULL);
        if (!begins || number <= 0 || !file || strcmp(rfn_source_file(file), code->file) != 0 ||
            owner_of(code, innermost(code, at)) != owner)
            continue;
        RFN_TRY(RFN_GROW(code->rows, code->rows_room, code->n_rows + 1));
        code->rows[code->n_rows++] = (struct row){(uint32_t)number, at};
    }
    return 0;
}

static int compare_rows(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Whether the function's last line lies between: then the compiler has moved code about. */
static bool has_end(const struct code *code, Dwarf_Addr from, Dwarf_Addr to)
{
    const uint32_t last = code->rows[code->n_rows - 1].line;
    for (size_t i = code->n_rows; i-- > 0 && code->rows[i].line == last;) {
        if (code->rows[i].at > from && code->rows[i].at < to)
            return true;
    }
    return false;
}

/* Rows of one line: the calls between the first and the last of them. Where a loop was unrolled and
 * the line is not its head, they include calls of lines before it. */
static void add_head(struct code *code, const struct row *first, const struct row *last,
                     struct rfn_source_calls *calls)
{
    struct rfn_source_loop loop = {0};
    if (first->at == last->at || has_end(code, first->at, last->at))
        return;
    for (size_t i = 0; i < code->n_candidates; i++) {
        const struct candidate *candidate = &code->candidates[i];
        if (candidate->at <= first->at || candidate->at > last->at)
            continue;
        if (candidate->call.line < first->line)
            return;
        widen(&loop, candidate->call.line);
    }
    if (loop.last)
        add_loop(calls, (struct rfn_source_loop){first->line, loop.last});
}

static int find_heads(struct code *code, int owner, struct rfn_source_calls *calls)
{
    Dwarf_Lines *lines;
    size_t n;
    if (dwarf_getsrclines(code->unit, &lines, &n) != 0)
        return 0;
    for (size_t i = 0; i < code->n_spans; i++) {
        if (code->spans[i].scope == owner)
            RFN_TRY(add_rows(code, owner, &code->spans[i], lines, n));
    }
    if (code->n_rows)
        qsort(code->rows, code->n_rows, sizeof *code->rows, compare_rows);
    for (size_t i = 0, next; i < code->n_rows; i = next) {
        for (next = i; next < code->n_rows && code->rows[next].line == code->rows[i].line;)
            next++;
        add_head(code, &code->rows[i], &code->rows[next - 1], calls);
    }
    return 0;
}

/* ---- the whole ---- */

static int find_calls(struct code *code, int owner, struct rfn_source_calls *calls)
{
    RFN_TRY(find_sites(code, owner));
    RFN_TRY(find_inlined(code, owner));
    if (code->n_candidates == 0)
        return 0;
    qsort(code->candidates, code->n_candidates, sizeof *code->candidates, compare_candidates);
    list_calls(code, calls);
    if (calls->n == 0)
        return 0;
    find_blocks(code, owner, calls);
    return find_heads(code, owner, calls);
}

int rfn_symbolizer_calls(struct rfn_symbolizer *symbolizer, int module, uint64_t address,
                         size_t level, const char *file, unsigned *budget,
                         struct rfn_source_calls *calls)
{
    enum { DEPTH_MAX = 100 };
    struct rfn_scopes scopes;
    calls->n = calls->n_loops = 0;
    if (*budget == 0 || !rfn_symbolizer_scopes(symbolizer, module, address, &scopes) ||
        level >= scopes.n)
        return 0;
    Dwarf_Die *function = &scopes.functions[scopes.n - 1 - level];
    struct code code = {.unit = &scopes.unit, .bias = scopes.bias, .file = file, .budget = *budget};
    int owner = NO_SCOPE, error = add_scope(&code, &scopes.functions[0], NO_SCOPE, true);
    if (!error)
        error = walk(&code, &scopes.functions[0], 0, DEPTH_MAX);
    sort_spans(&code);
    for (size_t i = 0; i < code.n_scopes && !error; i++) {
        if (code.scopes[i].die.addr == function->addr)
            owner = (int)i;
    }
    if (owner != NO_SCOPE && code.budget > 0)
        error = find_calls(&code, owner, calls);
    *budget = code.budget;
    free(code.scopes);
    free(code.spans);
    free(code.sites);
    free(code.candidates);
    free(code.rows);
    return error;
}
