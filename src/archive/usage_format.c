#include "archive/usage_format.h"

static void pack_process(const struct rfn_process_usage *process, struct rfn_buf *out)
{
    rfn_buf_varint(out, process->wall_ns / RFN_USAGE_NS);
    rfn_buf_varint(out, process->cpu_ns / RFN_USAGE_NS);
    if (process->knows_waiting)
        rfn_buf_varint(out, process->core_wait_ns / RFN_USAGE_NS);
    rfn_buf_varint(out, process->switches);
    rfn_buf_varint(out, process->preemptions);
    rfn_buf_varint(out, process->peak_bytes / RFN_USAGE_BYTES);
}

static void pack_gap(const struct rfn_gap_usage *gap, struct rfn_buf *out)
{
    rfn_buf_varint(out, gap->before_function);
    rfn_buf_varint(out, gap->before_path);
    rfn_buf_varint(out, gap->at_function);
    rfn_buf_varint(out, gap->at_path);
    rfn_buf_varint(out, gap->wall_ns / RFN_USAGE_NS);
    rfn_buf_varint(out, gap->cpu_ns / RFN_USAGE_NS);
    rfn_buf_varint(out, gap->core_wait_ns / RFN_USAGE_NS);
}

static void pack_recording(const struct rfn_stream_usage *of, struct rfn_buf *out)
{
    uint64_t before = 0;
    rfn_buf_varint(out, of->recording_ns / RFN_USAGE_NS);
    rfn_buf_varint(out, of->n_recording);
    for (size_t i = 0; i < of->n_recording; i++) {
        rfn_buf_varint(out, of->recording[i].from - before);
        rfn_buf_varint(out, of->recording[i].to - of->recording[i].from);
        before = of->recording[i].to;
    }
}

void rfn_pack_usage(const struct rfn_stream_usage *of, struct rfn_buf *out)
{
    const struct rfn_process_usage *process = &of->process;
    const bool recording = of->recording_ns / RFN_USAGE_NS || of->n_recording;
    rfn_buf_varint(out, (process->known ? RFN_USAGE_PROCESS : 0u) |
                            (process->known && process->knows_waiting ? RFN_USAGE_CORE_WAIT : 0u) |
                            (recording ? RFN_USAGE_RECORDING : 0u) |
                            (of->path_frames ? RFN_USAGE_PATHS_CUT : 0u));
    if (process->known)
        pack_process(process, out);
    if (recording)
        pack_recording(of, out);
    if (of->path_frames)
        rfn_buf_varint(out, of->path_frames);
    rfn_buf_varint(out, of->n_gaps);
    for (size_t i = 0; i < of->n_gaps; i++)
        pack_gap(&of->gaps[i], out);
}

void rfn_pack_cores(const struct rfn_process_cores *of, struct rfn_buf *out)
{
    rfn_buf_blob(out, of->mask, of->mask_bytes);
    rfn_buf_varint(out, of->omp_threads);
    rfn_buf_varint(out, of->n_windows);
    for (size_t i = 0; i < of->n_windows; i++) {
        rfn_buf_varint(out, of->windows[i].wall_ns / RFN_USAGE_NS);
        rfn_buf_varint(out, of->windows[i].on_core_ns / RFN_USAGE_NS);
        rfn_buf_varint(out, of->windows[i].runnable_ns / RFN_USAGE_NS);
    }
}
