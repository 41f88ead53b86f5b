/* The table of formats. A row's bytes are looked at in the table's order, so what begins more
 * narrowly stands first. */
#include "driver/formats/formats.h"

#include "base/file.h"
#include "driver/formats/ctranslate2.h"
#include "driver/formats/gguf.h"
#include "driver/formats/npz.h"
#include "driver/formats/onnx_weights.h"
#include "driver/formats/torch.h"
#include "driver/formats/zip.h"

#include <string.h>

typedef const unsigned char Bytes; /* of a file */

/* ---- beginnings ---- */

static bool begins(Bytes *bytes, uint64_t size, const char *with, size_t length)
{
    return size >= length && !memcmp(bytes, with, length);
}

#define BEGINS(name, with)                                 \
    static bool name(Bytes *bytes, uint64_t size)          \
    {                                                      \
        return begins(bytes, size, with, sizeof with - 1); \
    }
BEGINS(is_zip, "PK\3\4")
BEGINS(is_empty_zip, "PK\5\6")
BEGINS(is_npy, "\x93NUMPY")
BEGINS(is_gguf, "GGUF")
BEGINS(is_hdf5, "\x89HDF\r\n\x1a\n")
BEGINS(is_gzip, "\x1f\x8b")
BEGINS(is_zstd, "\x28\xb5\x2f\xfd")
BEGINS(is_xz, "\xfd"
              "7zXZ\0")
BEGINS(is_bzip2, "BZh")
BEGINS(is_7z, "7z\xbc\xaf\x27\x1c")
BEGINS(is_elf, "\x7f"
               "ELF")
/* The pickle of a number that torch.save puts first (torch/serialization.py, MAGIC_NUMBER). */
BEGINS(is_legacy_magic, "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")

static bool is_damaged_zip(Bytes *bytes, uint64_t size)
{
    return is_zip(bytes, size) && !zip_is(bytes, size, NULL);
}

static bool is_empty(Bytes *bytes, uint64_t size)
{
    (void)bytes;
    return size == 0;
}

/* Eight bytes of length, then the header, which is JSON. The length has zeros, which a text has
 * not. */
static bool is_safetensors(Bytes *bytes, uint64_t size)
{
    enum { LENGTH = 8 };
    return size > LENGTH && bytes[LENGTH] == '{' && memchr(bytes, 0, LENGTH);
}

/* A pickle of protocol 2 to 5. */
static bool is_pickle(Bytes *bytes, uint64_t size)
{
    return size > 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5;
}

static bool is_legacy(Bytes *bytes, uint64_t size)
{
    return is_pickle(bytes, size) && is_legacy_magic(bytes + 2, size - 2);
}

static bool is_tar(Bytes *bytes, uint64_t size)
{
    enum { MAGIC_AT = 257 };
    return size > MAGIC_AT + 5 && !memcmp(bytes + MAGIC_AT, "ustar", 5);
}

/* Before GGUF: "ggml", "ggmf" and "ggjt" as numbers, so backwards. */
static bool is_ggml(Bytes *bytes, uint64_t size)
{
    return begins(bytes, size, "lmgg", 4) || begins(bytes, size, "fmgg", 4) ||
           begins(bytes, size, "tjgg", 4);
}

/* A version, then the name of a specification with its length, as "TransformerSpec" and a NUL, or
 * of the first three versions such as "TransformerBase" (ctranslate2/specs/model_spec.py). */
static bool is_ctranslate2(Bytes *bytes, uint64_t size)
{
    enum { LATEST = 64, LONGEST = 64, NAME_AT = 6, ENDING = sizeof "Spec", BEGINNING = 11 };
    if (size < NAME_AT || bytes[0] == 0 || bytes[0] > LATEST || bytes[1] || bytes[2] || bytes[3])
        return false;
    const size_t length = bytes[4];
    if (bytes[5] || length <= ENDING || length >= LONGEST || size < NAME_AT + length)
        return false;
    return !memcmp(bytes + NAME_AT + length - ENDING, "Spec", ENDING) ||
           (length > BEGINNING && !memcmp(bytes + NAME_AT, "Transformer", BEGINNING) &&
            !bytes[NAME_AT + length - 1]);
}

/* ModelProto: field 1, a small version, then another field of it. */
static bool is_onnx(Bytes *bytes, uint64_t size)
{
    enum { NEWEST = 32 };
    return size > 4 && bytes[0] == 1 << 3 && bytes[1] >= 1 && bytes[1] < NEWEST &&
           strchr("\x12\x1a\x22\x28\x32\x3a\x42", bytes[2]) && bytes[2];
}

static bool is_text(Bytes *bytes, uint64_t size)
{
    enum { BEGINNING = 512 };
    for (uint64_t i = 0; i < size && i < BEGINNING; i++)
        if (bytes[i] < ' ' && !memchr("\t\r\n\f", bytes[i], 4))
            return false;
    return size > 0;
}

/* ---- the table ---- */

#define UNPACK "unpack it first"
#define READ(name, parse, budget, has, ending) {name, parse, NULL, has, ending, budget}
#define NOT_READ(name, advice, has, ending) {name, NULL, advice, has, ending, BUDGET_BINARY}
static const Format formats[] = {
    NOT_READ("an empty file", NULL, is_empty, NULL),
    READ("a safetensors file", st_read, BUDGET_BINARY, is_safetensors, ".safetensors"),
    NOT_READ("a program of TorchScript",
             "save its tensors alone (Python's torch.save(torch.jit.load(FILE).state_dict(), NEW))",
             torch_is_script, NULL),
    READ("a PyTorch archive", torch_parse_zip, BUDGET_BINARY, torch_is_zip, NULL),
    READ("an archive of NumPy's arrays", npz_weights_parse, BUDGET_BINARY, npz_is, ".npz"),
    NOT_READ("an archive, of PyTorch or zip, that is cut off or damaged", "download it again",
             is_damaged_zip, NULL),
    NOT_READ("a zip archive", UNPACK, is_zip, NULL),
    NOT_READ("an empty zip archive", "download it again", is_empty_zip, NULL),
    READ("a PyTorch archive of before PyTorch 1.6", torch_parse_legacy, BUDGET_BINARY, is_legacy,
         NULL),
    NOT_READ("a pickle of Python",
             "write its tensors as safetensors first (Python's safetensors.torch.save_file)",
             is_pickle, ".pkl"),
    READ("an array of NumPy", npy_weights_parse, BUDGET_BINARY, is_npy, ".npy"),
    READ("a GGUF, a model of llama.cpp", gguf_parse, BUDGET_BINARY, gguf_is_read, NULL),
    NOT_READ("a GGUF of another version than 2 and 3, or big-endian",
             "convert it again with llama.cpp, or take the published folder of the model", is_gguf,
             ".gguf"),
    NOT_READ("a model of llama.cpp from before GGUF",
             "take a GGUF of the model, or the published folder that it was made from", is_ggml,
             ".ggml"),
    READ(FORMAT_CTRANSLATE2, ctranslate2_parse, BUDGET_BINARY, is_ctranslate2, NULL),
    NOT_READ("a file of HDF5, as Keras writes", "write its tensors as safetensors first", is_hdf5,
             ".h5"),
    NOT_READ("a file of gzip", UNPACK, is_gzip, ".gz"),
    NOT_READ("a file of Zstandard", UNPACK, is_zstd, ".zst"),
    NOT_READ("a file of xz", UNPACK, is_xz, ".xz"),
    NOT_READ("a file of bzip2", UNPACK, is_bzip2, ".bz2"),
    NOT_READ("a 7z archive", UNPACK, is_7z, ".7z"),
    NOT_READ("a tar archive", UNPACK, is_tar, ".tar"),
    NOT_READ("a library or program (ELF)", NULL, is_elf, NULL),
    READ("an ONNX model", onnx_weights_parse, BUDGET_BINARY, is_onnx, ".onnx"),
    NOT_READ("text", NULL, is_text, NULL),
    NOT_READ("a checkpoint of Flax",
             "write its tensors as safetensors first (Python's safetensors.flax.save_file)", NULL,
             ".msgpack"),
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

const Format *format_of(const char *path, const void *bytes, uint64_t size)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (formats[i].has && formats[i].has(bytes, size))
            return &formats[i];
    for (int i = 0; i < N_FORMATS; i++)
        if (formats[i].ending && text_ends(path, formats[i].ending))
            return &formats[i];
    return NULL;
}

/* Names the formats that are read. */
static const char *known_formats(Arena *arena)
{
    const char *list = "";
    for (int i = 0; i < N_FORMATS; i++)
        if (formats[i].parse)
            list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", formats[i].name);
    return list;
}

/* `stand_in`: of text_stand_in. */
static bool refuse_format(Diagnostics *diags, Arena *arena, const char *path, const Format *format,
                          const char *stand_in)
{
    if (stand_in)
        diag_about(diags, DIAG_ERROR, path, " is %s", stand_in);
    else if (!format)
        diag_about(diags, DIAG_ERROR, path, " is no file of weights that is known here: read %s %s",
                   strchr(known_formats(arena), ',') ? "are" : "is", known_formats(arena));
    else if (format->advice)
        diag_about(diags, DIAG_ERROR, path, " is %s: %s", format->name, format->advice);
    else
        diag_about(diags, DIAG_ERROR, path, " is %s, not a file of weights", format->name);
    return false;
}

StFile *format_parse(Diagnostics *diags, Arena *arena, const char *path, const void *bytes,
                     uint64_t size)
{
    const Format *format = format_of(path, bytes, size);
    if (format && format->parse)
        return st_parse_within(format->budget, format->parse, diags, arena, path, bytes, size);
    refuse_format(diags, arena, path, format, text_stand_in(bytes, size));
    return NULL;
}

bool format_check(Diagnostics *diags, Arena *arena, const char *path)
{
    Diagnostics unseen;
    diag_init(&unseen, arena);
    uint64_t size;
    const void *map = file_map(&unseen, path, &size);
    const Format *format = map ? format_of(path, map, size) : NULL;
    const char *stand_in = map ? text_stand_in(map, size) : NULL;
    file_unmap(map, size);
    return !map || (format && format->parse) || refuse_format(diags, arena, path, format, stand_in);
}

StFile *format_open_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *path)
{
    return st_open_by(diags, arena, reach, path, format_parse);
}

StFile *format_open(Diagnostics *diags, Arena *arena, const char *path)
{
    return format_open_within(diags, arena, FILE_ANYWHERE, path);
}
