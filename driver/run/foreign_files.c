/* Endings of other programs' files. */
#include "driver/run/foreign_files.h"

#include "base/file.h"
#include "base/text.h"

#include <stdio.h>

#define TO_SAFETENSORS "write its tensors as safetensors first (Python's safetensors.torch.save_file)"

static const struct {
    const char *ending, *advice;
} rows[] = {
    {".npz", "arrays of NumPy: write them as safetensors first (Python's safetensors.numpy.save_file); tfc import "
             "FOLDER -o RUN reads Marian's models"},
    {".npy", "an array of NumPy: write it as safetensors first (Python's safetensors.numpy.save_file)"},
    {".bin", "a checkpoint of PyTorch: " TO_SAFETENSORS},
    {".pt", "a checkpoint of PyTorch: " TO_SAFETENSORS},
    {".pth", "a checkpoint of PyTorch: " TO_SAFETENSORS},
    {".ckpt", "a checkpoint of PyTorch: " TO_SAFETENSORS},
    {".gguf", "a model of llama.cpp: take the published folder that it was made from, with its safetensors (tfc import "
              "FOLDER -o RUN)"},
    {".onnx", "an ONNX model, which tfc export writes and nothing here reads: take the params that it was made from, as "
              "safetensors"},
    {".h5", "a checkpoint of Keras: write its tensors as safetensors first"},
    {".msgpack", "a checkpoint of Flax: write its tensors as safetensors first (Python's safetensors.flax.save_file)"},
    {".pkl", "a pickle of Python: write its tensors as safetensors first (Python's safetensors)"},
};

/* Eight bytes of length, then the header, which is JSON. */
static bool begins_as_safetensors(FILE *file)
{
    char begin[9];
    return fread(begin, 1, sizeof begin, file) == sizeof begin && begin[8] == '{';
}

bool foreign_file_check(Job *job, const char *path)
{
    const char *advice = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !advice; i++)
        if (text_ends(path, rows[i].ending))
            advice = rows[i].advice;
    FILE *file = advice && !file_is_folder(path) ? fopen(path, "re") : NULL;
    if (!file)
        return true;
    bool ok = begins_as_safetensors(file);
    fclose(file);
    return ok || job_error(job, "%s is not a safetensors file, but, by its name, %s", path, advice);
}
