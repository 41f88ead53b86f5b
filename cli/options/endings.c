/* The table of endings, and what is said of others. */
#include "cli/options/endings.h"

#include "base/file.h"

#include <ctype.h>
#include <string.h>

/* Ending: a command writes such files as the kind of this name, which is `what`. "" stands for a
 * name without an ending, "/" for one that ends so, "*" for any other. */
typedef struct Ending {
    const char *ending, *command, *kind, *what;
} Ending;

static const Ending endings[] = {
    /* clang-format off */
    {".so",          "compile", "so",          "a library"},
    {".o",           "compile", "obj",         "an object file"},
    {".c",           "compile", "c",           "C source"},
    {".ll",          "compile", "llvm",        "LLVM IR"},
    {".s",           "compile", "asm",         "assembly"},
    {".bc",          "compile", "bc",          "LLVM bitcode"},
    {".html",        "compile", "html",        "a page"},
    {".wasm",        "compile", "exe",         "WebAssembly"},
    {"",             "compile", "exe",         "a program"},
    {".safetensors", "export",  "safetensors", "the params"},
    {".onnx",        "export",  "onnx",        "the model as ONNX"},
    {".npz",         "export",  "marian",      "params for Marian"},
    {".gguf",        "export",  "gguf",        "the model for llama.cpp"},
    {"/",            "export",  "hf",          "Hugging Face's folder"},
    {"",             "export",  "safetensors", "the params"},
    {".html",        "dump",    "html",        "a page"},
    {".dot",         "dump",    "dot",         "a graph"},
    {"*",            "dump",    "text",        "text"},
    {".svg",         "draw",    "svg",         "a picture"},
    {"",             "draw",    "svg",         "a picture"},
    {".html",        "attend",  "html",        "a page"},
    {"",             "attend",  "html",        "a page"},
    {".html",        "report",  "html",        "a page"},
    {".svg",         "report",  "svg",         "a plot"},
    {"",             "report",  "html",        "a page"},
    /* clang-format on */
};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

/* ".so" of "lib.d/x.so"; "" where there is none: no letter follows the last dot, or nothing stands
 * before it, or it is no regular file (/dev/stdout has none). */
static const char *ending_of(const char *path)
{
    const char *name = file_name(path), *dot = strrchr(name, '.');
    if (text_ends(path, "/"))
        return "/";
    return dot && dot > name && isalpha((unsigned char)dot[1]) ? dot : "";
}

static const Ending *find_ending(const char *command, const char *ending)
{
    for (int i = 0; i < ENDINGS; i++)
        if ((!command || !strcmp(endings[i].command, command)) &&
            !strcmp(endings[i].ending, ending))
            return &endings[i];
    return NULL;
}

/* ".so, .o and .c": the command's. */
static const char *list_endings(Job *job, const char *command)
{
    Text list = {0};
    for (int i = 0; i < ENDINGS; i++)
        if (!strcmp(endings[i].command, command) && *endings[i].ending == '.')
            text_add(&list, "%s%s", list.length ? ", " : "", endings[i].ending);
    return text_keep(job->arena, &list);
}

/* What other tools would write, and what takes its place. */
static const struct {
    const char *ending, *command, *advice;
} foreign_endings[] = {
    /* clang-format off */
    {".dll",   "compile", "tfc makes libraries for Linux and WebAssembly, none for Windows"},
    {".exe",   "compile", "tfc makes programs for Linux and WebAssembly, none for Windows"},
    {".dylib", "compile", "tfc makes libraries for Linux and WebAssembly, none for macOS"},
    {".pt",    "export",  "PyTorch reads .safetensors (safetensors.torch.load_file)"},
    {".pth",   "export",  "PyTorch reads .safetensors (safetensors.torch.load_file)"},
    {".bin",   "export",  "PyTorch reads .safetensors (safetensors.torch.load_file)"},
    /* clang-format on */
};

static void refuse_ending(Job *job, const char *command, const char *path, const char *option)
{
    const char *ending = ending_of(path);
    const Ending *other = find_ending(NULL, ending);
    const char *any =
        option ? arena_printf(job->arena, "; %s writes any kind under this name", option) : "";
    for (size_t i = 0; i < sizeof foreign_endings / sizeof *foreign_endings; i++)
        if (!strcmp(foreign_endings[i].ending, ending) &&
            !strcmp(foreign_endings[i].command, command))
            any = arena_printf(job->arena, "; %s", foreign_endings[i].advice);
    if (other && strcmp(other->command, command))
        cli_usage_error("-o %s: tfc %s writes %s, tfc %s %s%s", path, other->command, ending,
                        command, list_endings(job, command), any);
    else
        cli_usage_error("-o %s: there is no %s to write, but %s%s", path, ending,
                        list_endings(job, command), any);
}

/* "x.so is a library, x.o an object file": what the endings of a command mean. */
static void refuse_none(Job *job, const char *command)
{
    const char *list = "";
    for (int i = 0; i < ENDINGS; i++)
        if (!strcmp(endings[i].command, command) && strcmp(endings[i].ending, "*"))
            list =
                arena_printf(job->arena, "%s%s%s %s", list, *list ? ", " : "",
                             *endings[i].ending ? endings[i].ending : "no ending", endings[i].what);
    cli_usage_error("-o FILE is missing; its ending says what is written: %s", list);
}

const char *ending_kind(Job *job, const char *command, const char *path, const char *option,
                        const char *chosen)
{
    if (!path)
        return refuse_none(job, command), NULL;
    if (chosen)
        return chosen;
    const Ending *found = find_ending(command, ending_of(path));
    if (!found && text_ends(path, "/"))
        found = find_ending(command, ""); /* and the command says what is wrong */
    if (!found)
        found = find_ending(command, "*");
    if (!found)
        refuse_ending(job, command, path, option);
    return found ? found->kind : NULL;
}
