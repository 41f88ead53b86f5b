/* Reading the JSON files of a published folder. */
#include "driver/exchange/import_json.h"

#include "base/file.h"

enum { LARGEST_FILE = 1 << 24 };

bool import_json_read(Job *job, const char *folder, const char *name, JsonKind kind,
                      const JsonValue **json)
{
    const char *path = file_in(job->arena, folder, name), *problem = NULL;
    *json = NULL;
    if (!file_is_named(path))
        return true;
    const Source *source = file_read(&job->diags, job->arena, path, LARGEST_FILE);
    *json = source ? json_read(job->arena, source->text, source->length, &problem) : NULL;
    if (*json && (*json)->kind != kind)
        return job_error(job, "%s: expected %s", path,
                         kind == JV_OBJECT ? "{\"key\": value, …}" : "[value, …]");
    return *json || (source && job_error(job, "%s: %s", path, problem ? problem : "out of memory"));
}
