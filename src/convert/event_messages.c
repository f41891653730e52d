#include "convert/event_messages.h"

struct rfn_event_messages rfn_event_messages(const struct rfn_match_event *event,
                                             enum rfn_match_what what)
{
    struct rfn_event_messages messages = {.peer = RFN_NO_PEER};
    for (size_t i = 0; i < event->n_ops; i++) {
        const struct rfn_match_op *op = &event->ops[i];
        if (op->what != what || op->cancelled)
            continue;
        messages.n++;
        messages.peer = op->peer;
        messages.tag = op->tag;
        messages.bytes = op->bytes < 0 || messages.bytes < 0 ? -1 : messages.bytes + op->bytes;
    }
    return messages;
}
