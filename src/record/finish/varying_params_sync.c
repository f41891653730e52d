#include "record/finish/varying_params_sync.h"

#include "base/hash.h"
#include "base/map.h"

static uint64_t move_key(const struct rec_stream_definitions *stream, uint32_t site, unsigned input)
{
    return rfn_hash_bytes((uint64_t[]){stream->functions[site], stream->paths[site], input},
                          3 * sizeof(uint64_t));
}

/* An input of a site, and whether it has moved. */
typedef int act_on_input(struct rec_stream *stream, uint32_t site, unsigned input, uint64_t key,
                         void *set);

/* Calls act for every input of every site that has (or has not) moved. */
static int each_input(const struct rec_definitions *description, bool moved, act_on_input *act,
                      void *set)
{
    for (size_t i = 0; i < description->n_streams; i++) {
        const struct rec_stream_definitions *of = &description->streams[i];
        for (uint32_t site = 0; site < of->n_sites; site++) {
            uint32_t function = rec_sites_function(&of->stream->sites, site);
            for (unsigned input = 0; input < rec_functions[function].n_in; input++) {
                bool has = rfn_stream_moved(of->stream->events, site) >> input & 1;
                if (has == moved)
                    RFN_TRY(act(of->stream, site, input, move_key(of, site, input), set));
            }
        }
    }
    return 0;
}

static int note_moved(struct rec_stream *stream, uint32_t site, unsigned input, uint64_t key,
                      void *set)
{
    (void)stream, (void)site, (void)input;
    return rfn_survey_add(set, key);
}

static int move_too(struct rec_stream *stream, uint32_t site, unsigned input, uint64_t key,
                    void *set)
{
    if (rfn_map_get(set, key))
        rfn_stream_move(stream->events, site, input);
    return 0;
}

int rec_varying_params_survey(const struct rec_definitions *description, struct rfn_survey *survey,
                              struct rfn_exchange *exchange, int error)
{
    struct rfn_map set = RFN_MAP_INIT;
    survey->set = &set;
    if (!error)
        error = each_input(description, true, note_moved, &set);
    error = rfn_survey_run(survey, exchange, error);
    if (!error && set.n)
        error = each_input(description, false, move_too, &set);
    rfn_map_release(&set);
    survey->set = NULL;
    return error;
}
