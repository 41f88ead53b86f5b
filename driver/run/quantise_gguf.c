/* What a GGUF of a quantised run has; see quantise.h. */
#include "driver/run/quantise.h"

#include "base/file.h"
#include "driver/run/folder.h"
#include "runtime/data/safetensors.h"

/* The GGUF type of such integers; NULL: none. */
static const char *gguf_type_of(Quant quant)
{
    return quant == QUANT_Q8_0 ? "q8_0" : quant == QUANT_INT4 ? "q4_0" : NULL;
}

bool quantise_gguf(Job *job, const char *run, const Module *module, const char **type, Map *others)
{
    const char *path = file_in(job->arena, run, RUN_WEIGHTS "/model.safetensors");
    *type = NULL;
    map_init(others, job->arena);
    if (!file_exists(path))
        return true;
    StFile *file = st_open(&job->diags, job->arena, path);
    if (!file)
        return false;
    const char *word = st_meta(file, ST_QUANTISED);
    *type = word ? gguf_type_of(quant_of_word(word)) : NULL;
    for (size_t i = 0; *type && i < module->params.count; i++) {
        const ParamInfo *param = module->params.data[i];
        const StTensor *tensor = st_find(file, param->name);
        const char *own = param->quant ? gguf_type_of(param->quant) : *type,
                   *other = tensor && tensor->scales.data && own ? own : "f32";
        if (other != *type)
            map_set(others, param->name, (void *)(uintptr_t)other);
    }
    st_close(file);
    return true;
}
