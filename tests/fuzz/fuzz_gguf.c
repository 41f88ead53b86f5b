/* A GGUF of arbitrary bytes becomes the files of a published folder (import_gguf), or an error
 * tells why not; what it wrote as JSON can be read as such. */
#define _GNU_SOURCE
#include "base/file.h"
#include "base/json_read.h"
#include "driver/exchange/import_gguf.h"
#include "tests/fuzz/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void need(bool holds)
{
    if (!holds)
        abort();
}

/* In memory where there is such a place: each file is written to the disk before it gets its
 * name. */
static char in_memory[] = "/dev/shm/fuzz-gguf-XXXXXX", on_disk[] = "/tmp/fuzz-gguf-XXXXXX";
static const char *folder;
static const char *const outputs[] = {"config.json", "tokenizer.json", "tokenizer_config.json",
                                      "tokenizer.model"};
enum { N_OUTPUTS = sizeof outputs / sizeof *outputs, N_JSON = N_OUTPUTS - 1 };

static void remove_files(Arena *arena)
{
    for (int i = 0; i < N_OUTPUTS; i++)
        remove(file_in(arena, folder, outputs[i]));
    remove(file_in(arena, folder, "in.gguf"));
}

static void remove_folder(void)
{
    Arena *arena = arena_new();
    remove_files(arena);
    arena_free(arena);
    remove(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { MOST = 1 << 24 };
    if (!folder) {
        folder = mkdtemp(in_memory);
        folder = folder ? folder : mkdtemp(on_disk);
        need(folder);
        atexit(remove_folder);
    }
    Job job = {.arena = arena_new()};
    diag_init(&job.diags, job.arena);
    const char *path = file_in(job.arena, folder, "in.gguf"), *quant = NULL;
    FILE *file = fopen(path, "wb");
    need(file && (!size || fwrite(bytes, size, 1, file)) && !fclose(file));
    const bool ok = import_gguf(&job, path, folder, &quant);
    need(ok == !job.diags.errors);
    need_budget(job.arena, BUDGET_BINARY, size);
    for (int i = 0; ok && i < N_JSON; i++) {
        const char *output = file_in(job.arena, folder, outputs[i]);
        if (!file_exists(output))
            continue;
        const Source *source = file_read(&job.diags, job.arena, output, MOST);
        const char *problem = "";
        if (!source || !json_read(job.arena, source->text, source->length, &problem)) {
            fprintf(stderr, "%s: %s\n", outputs[i], problem);
            abort();
        }
    }
    Text text = {0};
    diag_render(&job.diags, &text);
    text_free(&text);
    remove_files(job.arena);
    arena_free(job.arena);
    return 0;
}
