/* spill_model.h - a spill in memory, for tests: it can be told to fail. */
#ifndef RFN_TESTS_SUPPORT_SPILL_MODEL_H
#define RFN_TESTS_SUPPORT_SPILL_MODEL_H

#include "base/buf.h"
#include "base/spill.h"

struct spill_model {
    struct rfn_spill spill;
    struct rfn_buf bytes;
    size_t writes, reads;
    size_t writes_left; /* then writes fail */
};

static inline int spill_model_write(void *context, const void *bytes, size_t size, uint64_t *offset)
{
    struct spill_model *model = (struct spill_model *)context;
    if (model->writes_left == 0)
        return RFN_E_IO;
    model->writes_left--;
    model->writes++;
    *offset = model->bytes.size;
    rfn_buf_bytes(&model->bytes, bytes, size);
    return rfn_buf_status(&model->bytes);
}

static inline int spill_model_read(void *context, uint64_t offset, void *bytes, size_t size)
{
    struct spill_model *model = (struct spill_model *)context;
    if (offset > model->bytes.size || size > model->bytes.size - offset)
        return RFN_E_IO;
    memcpy(bytes, model->bytes.data + offset, size);
    model->reads++;
    return 0;
}

/* To be called where the model stays; bytes is to be released. */
static inline void spill_model_init(struct spill_model *model)
{
    *model = (struct spill_model){.writes_left = SIZE_MAX};
    model->spill = (struct rfn_spill){model, spill_model_write, spill_model_read};
}

#endif
