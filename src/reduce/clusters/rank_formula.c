/* Recursive descent that computes while it reads. What is not needed (the branch of ?: that is not
 * taken) is read `idle`: it has to be well-formed, but need not have a value. */
#include "reduce/clusters/rank_formula.h"

#include "refrain/event.h"

#include <string.h>

enum { DEPTH_MOST = 64 };

struct formula {
    const char *text;
    size_t size, at;
    int64_t r, n;
    unsigned depth;
    bool idle;         /* nobody needs the value of what is read */
    bool none;         /* it has no value */
    const char *fault; /* it is none, from `at` on */
};

static int64_t fail(struct formula *formula, const char *fault)
{
    if (!formula->fault)
        formula->fault = fault;
    return 0;
}

static int64_t no_value(struct formula *formula)
{
    formula->none |= !formula->idle;
    return 0;
}

/* ---- characters ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static void skip_spaces(struct formula *formula)
{
    while (formula->at < formula->size && is_space(formula->text[formula->at]))
        formula->at++;
}

/* Whether these characters are next, after spaces. */
static bool is_next(struct formula *formula, const char *word)
{
    size_t size = strlen(word);
    skip_spaces(formula);
    return formula->size - formula->at >= size &&
           memcmp(formula->text + formula->at, word, size) == 0;
}

static bool take(struct formula *formula, const char *word)
{
    bool there = !formula->fault && is_next(formula, word);
    formula->at += there ? strlen(word) : 0;
    return there;
}

static void expect(struct formula *formula, const char *word, const char *fault)
{
    if (!take(formula, word))
        fail(formula, fault);
}

/* ---- operators ---- */

enum operation {
    OR,
    AND,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    EQUAL,
    UNEQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    LEFT,
    RIGHT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    MODULO
};

struct operator
{
    char word[3];
    enum operation operation;
    unsigned level; /* those of a higher level bind more tightly; of equal ones the left */
};

/* Longer words first. */
static const struct operator operators[] = {
    {"||", OR, 1},       {"&&", AND, 2},        {"==", EQUAL, 6},
    {"!=", UNEQUAL, 6},  {"<=", LESS_EQUAL, 7}, {">=", GREATER_EQUAL, 7},
    {"<<", LEFT, 8},     {">>", RIGHT, 8},      {"|", BIT_OR, 3},
    {"^", BIT_XOR, 4},   {"&", BIT_AND, 5},     {"<", LESS, 7},
    {">", GREATER, 7},   {"+", ADD, 9},         {"-", SUBTRACT, 9},
    {"*", MULTIPLY, 10}, {"/", DIVIDE, 10},     {"%", MODULO, 10}};

static const struct operator* next_operator(struct formula *formula)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (is_next(formula, operators[i].word))
            return &operators[i];
    }
    return NULL;
}

static int64_t divide(struct formula *formula, int64_t a, int64_t b)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return no_value(formula);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t modulo(struct formula *formula, int64_t a, int64_t b)
{
    if (b == 0)
        return no_value(formula);
    int64_t rest = b == -1 ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* Rounds down, too. */
static int64_t shift_right(int64_t a, int64_t by)
{
    return a < 0 ? ~(~a >> by) : a >> by;
}

static int64_t shift(struct formula *formula, enum operation operation, int64_t a, int64_t by)
{
    if (by < 0 || by > 63)
        return no_value(formula);
    if (operation == RIGHT)
        return shift_right(a, by);
    int64_t value = (int64_t)((uint64_t)a << by);
    return shift_right(value, by) == a ? value : no_value(formula);
}

static int64_t arithmetic(struct formula *formula, enum operation operation, int64_t a, int64_t b)
{
    int64_t value = 0;
    bool over = operation == ADD        ? __builtin_add_overflow(a, b, &value)
                : operation == SUBTRACT ? __builtin_sub_overflow(a, b, &value)
                                        : __builtin_mul_overflow(a, b, &value);
    return over ? no_value(formula) : value;
}

static int64_t apply(struct formula *formula, enum operation operation, int64_t a, int64_t b)
{
    switch (operation) {
    case OR:
        return a || b;
    case AND:
        return a && b;
    case BIT_OR:
        return a | b;
    case BIT_XOR:
        return a ^ b;
    case BIT_AND:
        return a & b;
    case EQUAL:
        return a == b;
    case UNEQUAL:
        return a != b;
    case LESS:
        return a < b;
    case LESS_EQUAL:
        return a <= b;
    case GREATER:
        return a > b;
    case GREATER_EQUAL:
        return a >= b;
    case LEFT:
    case RIGHT:
        return shift(formula, operation, a, b);
    case DIVIDE:
        return divide(formula, a, b);
    case MODULO:
        return modulo(formula, a, b);
    default:
        return arithmetic(formula, operation, a, b);
    }
}

/* ---- values ---- */

static int64_t expression(struct formula *formula);

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : c == '_' ? 36 : 37;
}

static int64_t number(struct formula *formula)
{
    int base = take(formula, "0x") ? 16 : 10, digit;
    size_t begin = formula->at;
    int64_t value = 0;
    for (; formula->at < formula->size; formula->at++) {
        digit = digit_of(formula->text[formula->at]);
        if (digit >= base)
            break;
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return fail(formula, "a number is beyond 64 bits");
    }
    if (formula->at == begin ||
        (formula->at < formula->size && digit_of(formula->text[formula->at]) < 37))
        return fail(formula, "a number is malformed");
    return value;
}

/* "(a, b, ...)" of min and max, at least two. */
static int64_t extreme(struct formula *formula, bool most)
{
    expect(formula, "(", "a '(' is missing");
    int64_t found = expression(formula);
    expect(formula, ",", "a ',' is missing: min and max are of several values");
    do {
        int64_t value = expression(formula);
        if (most ? value > found : value < found)
            found = value;
    } while (take(formula, ","));
    expect(formula, ")", "a ')' is missing");
    return found;
}

static int64_t name(struct formula *formula)
{
    static const char *const names[] = {"r", "n", "null", "min", "max"};
    const char *text = formula->text + formula->at;
    size_t size = 0, i = 0;
    while (formula->at + size < formula->size && digit_of(text[size]) < 37)
        size++;
    while (i < 5 && (strlen(names[i]) != size || memcmp(names[i], text, size) != 0))
        i++;
    if (i == 5)
        return fail(formula, size ? "there is no such name" : "a value is missing");
    formula->at += size;
    if (i > 2)
        return extreme(formula, i == 4);
    return i == 0 ? formula->r : i == 1 ? formula->n : RFN_PROC_NULL;
}

static int64_t primary(struct formula *formula)
{
    if (take(formula, "(")) {
        int64_t value = expression(formula);
        expect(formula, ")", "a ')' is missing");
        return value;
    }
    bool digit = formula->at < formula->size && digit_of(formula->text[formula->at]) < 10;
    return digit ? number(formula) : name(formula);
}

static int64_t unary(struct formula *formula)
{
    static const char *const signs[] = {"-", "~", "!", "+"};
    size_t i = 0;
    while (i < 4 && !take(formula, signs[i]))
        i++;
    if (i == 4)
        return formula->fault ? 0 : primary(formula);
    if (++formula->depth > DEPTH_MOST)
        return fail(formula, "it is nested too deeply");
    int64_t value = unary(formula);
    formula->depth--;
    if (i == 0)
        return arithmetic(formula, SUBTRACT, 0, value);
    return i == 1 ? ~value : i == 2 ? !value : value;
}

/* Operators of at least this level, and what is between them. */
static int64_t binary(struct formula *formula, unsigned least)
{
    int64_t value = unary(formula);
    while (!formula->fault) {
        const struct operator* operator= next_operator(formula);
        if (!operator|| operator->level<least)
            break;
        formula->at += strlen(operator->word);
        bool idle = formula->idle;
        formula->idle |= operator->operation == AND ? !value : operator->operation == OR && value;
        int64_t right = binary(formula, operator->level + 1);
        formula->idle = idle;
        value = apply(formula, operator->operation, value, right);
    }
    return value;
}

/* One of the two behind a condition. */
static int64_t branch(struct formula *formula, bool taken)
{
    bool idle = formula->idle;
    formula->idle |= !taken;
    int64_t value = expression(formula);
    formula->idle = idle;
    return value;
}

static int64_t expression(struct formula *formula)
{
    if (formula->fault || ++formula->depth > DEPTH_MOST)
        return fail(formula, "it is nested too deeply");
    int64_t value = binary(formula, 0);
    if (take(formula, "?")) {
        bool met = value != 0;
        int64_t yes = branch(formula, met);
        expect(formula, ":", "a ':' is missing");
        int64_t no = branch(formula, !met);
        value = met ? yes : no;
    }
    formula->depth--;
    return value;
}

/* ---- the whole ---- */

static int64_t evaluate(struct formula *formula)
{
    if (formula->size > RFN_FORMULA_MOST)
        return fail(formula, "it is too long");
    int64_t value = expression(formula);
    if (formula->fault)
        return 0;
    skip_spaces(formula);
    return formula->at < formula->size ? fail(formula, "an operator is missing") : value;
}

const char *rfn_formula_fault(const char *text, size_t size, size_t *at)
{
    struct formula formula = {.text = text, .size = size, .n = 1};
    evaluate(&formula);
    *at = formula.at;
    return formula.fault;
}

bool rfn_formula_value(const char *text, size_t size, int64_t r, int64_t n, int64_t *value)
{
    struct formula formula = {.text = text, .size = size, .r = r, .n = n};
    *value = evaluate(&formula);
    return !formula.fault && !formula.none;
}

size_t rfn_formula_pack(const char *text, size_t size, char *to)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (!is_space(text[i]))
            to[n++] = text[i];
    }
    return n;
}
