#include "cli/compare/gates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

/* What stands behind the sign: "5 %", "20 ms", "3". */
static bool parse_limit(struct rfn_gate *gate, const char *text)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
    char *end;
    const char *number = skip_blanks(text);
    if (*number < '0' || *number > '9')
        return false;
    gate->number = strtod(number, &end);
    const char *unit = skip_blanks(end);
    size_t n = strlen(unit);
    while (n && unit[n - 1] == ' ')
        n--;
    gate->percent = n == 1 && *unit == '%';
    gate->points = n == 6 && strncmp(unit, "points", n) == 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == n && strncmp(unit, units[i].name, n) == 0) {
            gate->timed = true;
            gate->number *= units[i].ns;
        }
    }
    return isfinite(gate->number) && (n == 0 || gate->percent || gate->points || gate->timed);
}

bool rfn_gate_parse(struct rfn_gate *gate, const char *rule)
{
    for (const char *sign = rule + strlen(rule); sign > rule; sign--) {
        if (*sign != '<' && *sign != '>')
            continue;
        *gate = (struct rfn_gate){.rule = rule, .falls = *sign == '<'};
        gate->row_length = (size_t)(sign - rule);
        while (gate->row_length && rule[gate->row_length - 1] == ' ')
            gate->row_length--;
        return gate->row_length && parse_limit(gate, sign + 1);
    }
    return false;
}

/* ---- rows ---- */

static bool is_unit(const struct rfn_gate *gate, enum rfn_row_unit unit)
{
    if (gate->percent)
        return true;
    return gate->timed    ? unit == RFN_ROW_NS
           : gate->points ? unit == RFN_ROW_SHARE
                          : unit == RFN_ROW_COUNT || unit == RFN_ROW_BYTES;
}

static bool begins_so(const char *name, const struct rfn_gate *gate)
{
    const char *rest = name + gate->row_length;
    return strncmp(name, gate->rule, gate->row_length) == 0 &&
           (!*rest || strncmp(rest, " < ", 3) == 0 || strncmp(rest, ", ", 2) == 0);
}

enum rfn_gate_error rfn_gate_find(const struct rfn_gate *gate,
                                  const struct rfn_compared_sides *compared,
                                  const struct rfn_row_change **row)
{
    size_t found = 0;
    *row = NULL;
    for (size_t i = 0; i < compared->n_rows; i++) {
        const struct rfn_row_change *one = &compared->rows[i];
        if (!begins_so(one->name, gate))
            continue;
        *row = one;
        found++;
        if (strlen(one->name) == gate->row_length) {
            found = 1;
            break;
        }
    }
    if (found != 1)
        return found ? RFN_GATE_MANY_ROWS : RFN_GATE_NO_ROW;
    return is_unit(gate, (*row)->unit) ? RFN_GATE_OK : RFN_GATE_UNIT;
}

double rfn_gate_limit(const struct rfn_gate *gate, const struct rfn_row_change *row)
{
    if (gate->percent)
        return row->of[0].median * gate->number / 100;
    return gate->points ? gate->number / 100 : gate->number;
}

bool rfn_gate_fails(const struct rfn_gate *gate, const struct rfn_row_change *row)
{
    const struct rfn_row_range *a = &row->of[0], *b = &row->of[1];
    const double grown = gate->falls ? a->median - b->median : b->median - a->median;
    return grown > rfn_gate_limit(gate, row) && !row->noise;
}
