#include "cli/args/network_file.h"

#include "cli/args/command.h"
#include "cli/text/json.h"

enum { SCHEMA = 1 };

/* Larger than any: for a mistake in the unit. */
static const double MOST_SECONDS = 1000, MOST_SECONDS_PER_BYTE = 1e-3;

static int take_seconds(const json_t *value, const char *name, double most, double *ns,
                        const char *file, struct rfn_diag *diag)
{
    const json_t *member = json_object_get(value, name);
    const double seconds = json_number_value(member);
    if (!json_is_number(member) || !(seconds >= 0 && seconds <= most))
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1,
                        "%s: \"%s\" is %s, not a number of seconds from 0 to %g; refrain calibrate "
                        "writes such a file",
                        file, name, member ? "something else" : "missing", most);
    *ns = seconds * 1e9;
    return 0;
}

static int take(const json_t *value, struct rfn_network *network, const char *file,
                struct rfn_diag *diag)
{
    const json_t *schema = json_object_get(value, "schema"), *eager = json_object_get(value, "S");
    if (!json_is_integer(schema))
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1,
                        "%s: not a file of refrain calibrate: it has no \"schema\"", file);
    if (json_integer_value(schema) != SCHEMA)
        return rfn_fail(diag, RFN_E_VERSION, -1, -1,
                        "%s: its \"schema\" is %" JSON_INTEGER_FORMAT
                        ", and this refrain reads %d; measure again with its refrain calibrate",
                        file, json_integer_value(schema), SCHEMA);
    RFN_TRY(take_seconds(value, "L", MOST_SECONDS, &network->latency_ns, file, diag));
    RFN_TRY(take_seconds(value, "o", MOST_SECONDS, &network->overhead_ns, file, diag));
    RFN_TRY(take_seconds(value, "g", MOST_SECONDS, &network->gap_ns, file, diag));
    RFN_TRY(take_seconds(value, "G", MOST_SECONDS_PER_BYTE, &network->gap_per_byte_ns, file, diag));
    if (!json_is_integer(eager) || json_integer_value(eager) < 0)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1,
                        "%s: \"S\" is %s, not a number of bytes; refrain calibrate writes such a "
                        "file",
                        file, eager ? "something else" : "missing");
    network->eager_bytes = json_integer_value(eager);
    return 0;
}

int rfn_network_file_read(const char *file, struct rfn_network *network, struct rfn_diag *diag)
{
    json_error_t why;
    json_t *value = json_load_file(file, JSON_REJECT_DUPLICATES, &why);
    if (!value && rfn_json_failed())
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
    if (!value && json_error_code(&why) == json_error_cannot_open_file)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "%s", why.text);
    if (!value)
        return rfn_fail(diag, RFN_E_CORRUPT, -1, -1, "%s: not JSON, line %d: %s", file, why.line,
                        why.text);
    int error = take(value, network, file, diag);
    json_decref(value);
    return error;
}

int rfn_command_network(const char *file, struct rfn_network *network)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int error = file ? rfn_network_file_read(file, network, &diag) : 0;
    return error < 0 ? rfn_command_fail(NULL, error, &diag) : RFN_EXIT_OK;
}
