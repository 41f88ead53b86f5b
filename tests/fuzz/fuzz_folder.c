/* Files that a folder of a run, or of a published model, is known by, of arbitrary bytes: the first line of an input names
 * the file, the rest is what it holds. It is read, or an error tells why not. */
#define _GNU_SOURCE
#include "driver/exchange/import_config.h"
#include "driver/run/record.h"
#include "runtime/data/shards.h"
#include "runtime/train/runlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool read_log(Job *job, const char *folder)
{
    RunLog log = {0};
    return runlog_read(&job->diags, job->arena, folder, &log);
}

static bool read_index(Job *job, const char *folder)
{
    Shards *shards = shards_open(&job->diags, job->arena, folder);
    bool ok = shards != NULL;
    for (size_t i = 0; ok && i < shards->names.count; i++)
        if (!shards_find(shards, shards->names.data[i]))
            abort();
    shards_close(shards);
    return ok;
}

static bool read_record(Job *job, const char *folder)
{
    RunRecord record = {0};
    return run_record_read(job, folder, &record);
}

static bool read_config(Job *job, const char *folder)
{
    ImportConfig config = {0};
    bool ok = import_config_read(job, folder, &config);
    if (ok)
        import_config_size(job, &config, "vocab_size");
    return ok;
}

static const struct {
    const char *name;
    bool (*read)(Job *job, const char *folder);
} readers[] = {{"log.jsonl", read_log},
               {"model.safetensors.index.json", read_index},
               {"run.json", read_record},
               {"config.json", read_config}};

/* A folder of this process, with a tensor for indices to name. */
static const char *make_folder(void)
{
    static char folder[] = "/tmp/fuzz-folder-XXXXXX";
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
    if (!mkdtemp(folder))
        abort();
    char *path;
    FILE *file = asprintf(&path, "%s/a.safetensors", folder) > 0 ? fopen(path, "w") : NULL;
    const uint64_t length = sizeof header - 1;
    if (!file || !fwrite(&length, 8, 1, file) || fputs(header, file) < 0 || !fwrite("\0\0\0\0", 4, 1, file) || fclose(file))
        abort();
    free(path);
    return folder;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    if (!file || (size && !fwrite(bytes, size, 1, file)) || fclose(file))
        abort();
}

static const char *folder;

static void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command))
        fputs("the folder stays\n", stderr);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *line = memchr(bytes, '\n', size);
    size_t n = line ? (size_t)(line - bytes) : 0, kind = 0;
    while (kind < sizeof readers / sizeof *readers && (strlen(readers[kind].name) != n || memcmp(readers[kind].name, bytes, n)))
        kind++;
    if (kind == sizeof readers / sizeof *readers)
        return 0;
    if (!folder) {
        folder = make_folder();
        atexit(remove_folder);
    }
    Job job = {.arena = arena_new()};
    diag_init(&job.diags, job.arena);
    const char *path = arena_printf(job.arena, "%s/%s", folder, readers[kind].name);
    write_file(path, bytes + n + 1, size - n - 1);
    if (readers[kind].read(&job, folder) ? job.diags.errors != 0 : job.diags.errors == 0)
        abort();
    remove(path);
    Text text = {0};
    diag_render(&job.diags, &text);
    text_free(&text);
    arena_free(job.arena);
    return 0;
}
