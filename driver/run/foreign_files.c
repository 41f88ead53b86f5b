/* Endings, and beginnings, of other programs' files. */
#include "driver/run/foreign_files.h"

#include "base/file.h"
#include "base/text.h"

#include <string.h>
#include <unistd.h>

#define TO_SAFETENSORS \
    "write its tensors as safetensors first (Python's safetensors.torch.save_file)"

static const struct {
    const char *ending, *advice;
} rows[] = {
    {".npz",
     "arrays of NumPy: write them as safetensors first (Python's safetensors.numpy.save_file); tfc import "
     "FOLDER -o RUN reads Marian's models"},
    {".npy",
     "an array of NumPy: write it as safetensors first (Python's safetensors.numpy.save_file)"},
    {".bin", "a checkpoint of PyTorch: " TO_SAFETENSORS},
    {".pt", "a checkpoint of PyTorch: " TO_SAFETENSORS},
    {".pth", "a checkpoint of PyTorch: " TO_SAFETENSORS},
    {".ckpt", "a checkpoint of PyTorch: " TO_SAFETENSORS},
    {".gguf",
     "a model of llama.cpp: take the published folder that it was made from, with its safetensors (tfc import "
     "FOLDER -o RUN)"},
    {".onnx",
     "an ONNX model, which tfc export writes and nothing here reads: take the params that it was made from, as "
     "safetensors"},
    {".h5", "a checkpoint of Keras: write its tensors as safetensors first"},
    {".msgpack",
     "a checkpoint of Flax: write its tensors as safetensors first (Python's safetensors.flax.save_file)"},
    {".pkl", "a pickle of Python: write its tensors as safetensors first (Python's safetensors)"},
};

enum { BEGINNING = 512, LENGTH = 8 };

/* Eight bytes of length, then the header, which is JSON. The length has zeros, which a text has
 * not. */
static bool begins_as_safetensors(const char *begin, size_t n)
{
    return n > LENGTH && begin[LENGTH] == '{' && memchr(begin, 0, LENGTH);
}

/* What a file is, by its beginning; NULL: nothing is known of it. */
static const char *kind_of(const char *begin, size_t n)
{
    static const char elf[] = {0x7f, 'E', 'L', 'F'};
    if (n >= sizeof elf && !memcmp(begin, elf, sizeof elf))
        return "a library or program (ELF)";
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)begin[i] < ' ' && !strchr("\t\r\n\f", begin[i]))
            return NULL;
    return n ? "text" : "empty";
}

bool foreign_file_check(Job *job, const char *path)
{
    const char *advice = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !advice; i++)
        if (text_ends(path, rows[i].ending))
            advice = rows[i].advice;
    char begin[BEGINNING];
    uint64_t size;
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    /* an index of shards is JSON */
    int fd = text_ends(path, ".json") ? -1 : file_open_regular(&unseen, path, &size);
    ssize_t n = fd < 0 ? -1 : read(fd, begin, sizeof begin);
    if (fd >= 0)
        close(fd);
    if (n < 0 || begins_as_safetensors(begin, (size_t)n))
        return true;
    if (advice)
        return job_error(job, "%s is not a safetensors file, but, by its name, %s", path, advice);
    const char *kind = kind_of(begin, (size_t)n);
    if (kind)
        diag_about(&job->diags, DIAG_ERROR, path, " is %s, not safetensors", kind);
    return !kind;
}
