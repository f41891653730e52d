/* short_name.c - rfn_short_name of refrain/demangle.h.
 *
 * A demangled C++ name is read from left to right. "::" ends a part. A blank that follows no
 * qualifier ends the type that is returned, or a word such as "virtual thunk to": the name begins
 * anew. Everything in brackets is skipped.
 */
#include "refrain/demangle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    const char *at;
    size_t n;
};

/* The last two parts that are read; the one before has n 0 if there is none. */
struct parts {
    struct part outer, last;
    bool lambda; /* it is inside of these */
};

/* Whether it is what a compiler adds to the name of a copy: ".part.0", ".cold", ".cold.3". Names of
 * scripts have dots, too. */
static bool is_clone(const char *text)
{
    static const char *const clones[] = {".constprop", ".isra",     ".part",
                                         ".cold",      ".lto_priv", ".llvm"};
    for (size_t i = 0; i < sizeof clones / sizeof *clones; i++) {
        const size_t n = strlen(clones[i]);
        if (strncmp(text, clones[i], n) == 0)
            return (text[n] == '.' && text[n + 1] >= '0' && text[n + 1] <= '9') ||
                   (!text[n] && strcmp(clones[i], ".cold") == 0);
    }
    return false;
}

size_t rfn_name_length(const char *name)
{
    size_t n = 0;
    while (name[n] && !(n && name[n] == '.' && is_clone(name + n)))
        n++;
    return n;
}

const char *rfn_name_distance(const char *name)
{
    const char *plus = strchr(name, '+');
    return plus && strncmp(plus, "+0x", 3) == 0 ? plus : NULL;
}

/* ---- pieces of a name ---- */

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '~' || c == '$' || c == '.' ||
           (unsigned char)c >= 0x80;
}

/* Behind the bracket that closes the one at `at`, or the end. Angles count where they are not in
 * other brackets, in which they may be operators. */
static const char *skip_brackets(const char *at)
{
    const bool angles = *at == '<';
    size_t depth = 0;
    while (*at) {
        const bool opens = strchr("([{", *at), closes = strchr(")]}", *at);
        if (angles && opens) {
            at = skip_brackets(at);
            continue;
        }
        depth += angles ? *at == '<' : opens;
        depth -= angles ? *at == '>' : closes;
        at++;
        if (depth == 0)
            break;
    }
    return at;
}

/* " const", which may stand behind the arguments of a function around a lambda; 0: something else.
 */
static size_t qualifier(const char *at)
{
    static const char *const words[] = {" const", " volatile", " &&", " &", " noexcept"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i]);
        if (strncmp(at, words[i], n) == 0 && !is_letter(at[n]))
            return n;
    }
    return 0;
}

/* How long "operator<<" is at `at`; 0: it is no operator. That of a conversion has a type. */
static size_t operator_at(const char *at)
{
    static const char word[] = "operator";
    static const char *const signs[] = {"->*", "<=>", "<<=", ">>=", "->", "<<", ">>", "&&",  "||",
                                        "++",  "--",  "==",  "!=",  "<=", ">=", "+=", "-=",  "*=",
                                        "/=",  "%=",  "^=",  "&=",  "|=", "()", "[]", "\"\""};
    const size_t n = sizeof word - 1;
    if (strncmp(at, word, n) != 0 || is_letter(at[n]))
        return 0;
    if (at[n] == ' ')
        return strcspn(at, "(");
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strncmp(at + n, signs[i], strlen(signs[i])) == 0)
            return n + strlen(signs[i]);
    }
    return n + (at[n] != '\0');
}

static bool is_inline_namespace(struct part part)
{
    return (part.n > 5 && strncmp(part.at, "__cxx", 5) == 0) ||
           (part.n == 3 && strncmp(part.at, "__1", 3) == 0) ||
           (part.n == 3 && strncmp(part.at, "_V2", 3) == 0);
}

static void end_part(struct parts *parts, struct part *part)
{
    if (part->n && !is_inline_namespace(*part)) {
        parts->outer = parts->last;
        parts->last = *part;
    }
    *part = (struct part){0};
}

/* The part that begins or goes on at `at`; returns what is behind that. */
static const char *read_letters(struct part *part, const char *at)
{
    const size_t sign = part->n ? 0 : operator_at(at);
    if (!part->n)
        part->at = at;
    if (sign) {
        part->n = sign;
        return at + sign + (at[sign] == ' ' && at[sign + 1] == '<');
    }
    for (; is_letter(*at); at++)
        part->n += part->at + part->n == at;
    return at;
}

static bool is_lambda(const char *at)
{
    return strncmp(at, "{lambda", 7) == 0 || strncmp(at, "'lambda", 7) == 0;
}

static struct parts read_parts(const char *at)
{
    struct parts parts = {0};
    struct part part = {0};
    while (*at && !parts.lambda) {
        const size_t words = qualifier(at);
        if (is_lambda(at)) {
            parts.lambda = true;
        } else if (is_letter(*at)) {
            at = read_letters(&part, at);
        } else if (strchr("<([{", *at)) {
            at = skip_brackets(at);
        } else if (strncmp(at, "::", 2) == 0) {
            end_part(&parts, &part);
            at += 2;
        } else {
            if (*at == ' ' && !words) {
                parts = (struct parts){0};
                part = (struct part){0};
            }
            at += words ? words : 1;
        }
    }
    end_part(&parts, &part);
    return parts;
}

/* ---- the short name ---- */

static char *copy_of(const char *name, size_t n)
{
    char *copy = malloc(n + 1);
    if (copy) {
        memcpy(copy, name, n);
        copy[n] = '\0';
    }
    return copy;
}

static char *join(const struct parts *parts)
{
    static const char lambda[] = "lambda in ";
    const size_t size = sizeof lambda + parts->outer.n + 2 + parts->last.n;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%.*s%.*s%s%.*s",
                 !parts->lambda  ? 0
                 : parts->last.n ? (int)sizeof lambda - 1
                                 : 6,
                 lambda, (int)parts->outer.n, parts->outer.n ? parts->outer.at : "",
                 parts->outer.n ? "::" : "", (int)parts->last.n,
                 parts->last.n ? parts->last.at : "");
    return name;
}

/* "code after solve()+0x1f40" */
static char *describe(const char *name, const char *distance, bool may_load)
{
    char *before = copy_of(name, (size_t)(distance - name));
    char *plain = before && *before ? rfn_short_name(before, may_load) : NULL;
    const size_t size = sizeof "code after ()" + strlen(plain ? plain : "") + strlen(distance);
    char *words = before && (plain || !*before) ? malloc(size) : NULL;
    if (words)
        snprintf(words, size, "code %s %s%s%s", plain ? "after" : "at", plain ? plain : "",
                 plain ? "()" : "", distance);
    free(before);
    free(plain);
    return words;
}

/* "solve<double>", as debug information has it; no name of Python, "f.<locals>.<lambda>". */
static bool is_template(const char *name)
{
    const size_t n = strlen(name);
    return n && is_letter(name[0]) && name[n - 1] == '>' && strchr(name, '<') &&
           !strstr(name, ".<");
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

char *rfn_function_label(const char *function, const char *file, const char *module,
                         const char *program)
{
    const char *in = base_name(module);
    if (!*in || (file && (strcmp(in, base_name(file)) == 0 || strcmp(in, base_name(program)) == 0)))
        return rfn_short_name(function, true);
    char *name = rfn_short_name(function, true);
    const size_t size = strlen(in) + sizeof ": " + strlen(name ? name : "");
    char *label = name ? malloc(size) : NULL;
    if (label)
        snprintf(label, size, "%s: %s", in, name);
    free(name);
    return label;
}

char *rfn_short_name(const char *name, bool may_load)
{
    const char *distance = rfn_name_distance(name);
    if (distance)
        return describe(name, distance, may_load);
    char *plain = rfn_demangle(name, may_load);
    if (!plain && is_template(name))
        plain = copy_of(name, strlen(name));
    if (!plain)
        return copy_of(name, rfn_name_length(name));
    const struct parts parts = read_parts(plain);
    if (!parts.last.n && !parts.lambda)
        return plain;
    char *shorter = join(&parts);
    free(plain);
    return shorter;
}
