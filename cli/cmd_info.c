/* tfc info: what a file or folder holds. */
#include "base/file.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "driver/model_argument.h"
#include "driver/run_folder.h"
#include "ir/text.h"
#include "runtime/data/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int64_t type_elements(const Type *type)
{
    int64_t count = 1;
    for (int i = 0; i < type->rank; i++)
        count *= type->dims[i].size;
    return count;
}

static void print_model(Job *job, const Model *model)
{
    static const char *const roles[] = {"", "  frozen", "  state", "  slot", "  gradient"};
    const Module *module = model->module;
    int64_t total = 0;
    printf("model %s\n", module->name);
    FOR_OPS (op, &module_function(module, "model")->body) {
        if (op->kind == OP_input)
            printf("  input   %-40s %s\n", op_string(op, ATTR_name),
                   ir_type_text(module, &op_result(op)->type, job->arena));
        else if (op->kind == OP_output)
            printf("  output  %-40s %s\n", op_string(op, ATTR_name),
                   ir_type_text(module, &op->args[0]->type, job->arena));
    }
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *info = module->params.data[i];
        printf("  param   %-40s %s%s\n", info->name, ir_type_text(module, &info->type, job->arena),
               roles[info->role]);
        total += type_elements(&info->type);
    }
    printf("%zu param%s, %" PRId64 " numbers\n", module->params.count,
           module->params.count == 1 ? "" : "s", total);
}

static bool info_model(Job *job, const char *path, const TextList *settings)
{
    ModelArgument model;
    Session session;
    if (!model_argument(job, path, settings, &model) || !session_open(&session, job, &model.options))
        return false;
    print_model(job, session.model);
    session_close(&session);
    return true;
}

static bool info_run(Job *job, const char *path)
{
    RunFolder run;
    bool ok = run_folder_open(job, path, &run);
    if (ok) {
        print_model(job, run.session.model);
        printf("vocabulary of %d tokens, trained on %s\n", (int)vocab_size(run.vocab),
               corpus_kind_name(run.kind));
        for (size_t i = 0; i < run.session.options.settings.count; i++)
            printf("  set     %s\n", run.session.options.settings.data[i]);
        static const char *const names[] = {"last", "best", "average"};
        for (int i = 0; i < 3; i++) {
            const char *file = arena_printf(job->arena, "%s/%s.safetensors", path, names[i]);
            StFile *checkpoint = file_exists(file) ? st_open(&job->diags, job->arena, file) : NULL;
            const char *step = checkpoint ? st_meta(checkpoint, "step") : NULL;
            if (step)
                printf("  %-8sstep %s\n", names[i], step);
            if (checkpoint)
                st_close(checkpoint);
        }
    }
    run_folder_close(&run);
    return ok;
}

static bool check_sums(Job *job, const StFile *file)
{
    bool ok = st_header_is_whole(file) ||
              job_error(job, "%s is damaged: the checksum of its header is another", file->path);
    for (int64_t i = 0; i < file->n; i++)
        if (!st_is_whole(file, &file->tensors[i]))
            ok = job_error(job, "%s is damaged: the checksum of '%s' is another", file->path,
                           file->tensors[i].name);
    if (ok && st_meta(file, ST_CHECKSUMS))
        printf("checksums are right\n");
    return ok;
}

static bool info_tensors(Job *job, const char *path)
{
    StFile *file = st_open(&job->diags, job->arena, path);
    if (!file)
        return false;
    uint64_t bytes = 0;
    for (int64_t i = 0; i < file->n_meta; i++)
        if (strcmp(file->meta_keys[i], ST_CHECKSUMS))
            printf("  %-16s %s\n", file->meta_keys[i], file->meta_values[i]);
    for (int64_t i = 0; i < file->n; i++) {
        const StTensor *tensor = &file->tensors[i];
        printf("  %-48s %s[", tensor->name, element_info(tensor->type)->name);
        for (int d = 0; d < tensor->rank; d++)
            printf("%s%" PRId64, d ? ", " : "", tensor->dims[d]);
        printf("]\n");
        bytes += tensor->bytes;
    }
    printf("%" PRId64 " tensors, %s\n", file->n, bytes_text((int64_t)bytes));
    bool ok = check_sums(job, file);
    st_close(file);
    return ok;
}

int command_info(Job *job, int argc, char **argv)
{
    TextList settings = {0};
    const Option options[] = {
        {"set", "NAME=VALUE", OPTION_LIST, &settings, 0, "override a const of the model"},
    };
    const Usage usage = {
        "info", "FILE",
        "Tells what a model (.tfg), the folder of a run, or a checkpoint or other\n"
        "safetensors file holds.",
        1, 1};
    Arguments arguments;
    int status;
    if (options_parse(job, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    const char *path = arguments.words[0];
    struct stat info;
    bool ok;
    if (stat(path, &info))
        ok = job_error(job, "cannot read %s: no such file", path);
    else if (S_ISDIR(info.st_mode))
        ok = settings.count ? job_error(job, "%s: --set is for a model's file: a run has the settings that "
                                             "it was trained with", path)
                            : info_run(job, path);
    else if (text_ends(path, ".tfg") || text_ends(path, ".tir"))
        ok = info_model(job, path, &settings);
    else
        ok = info_tensors(job, path);
    return cli_finish(job, ok);
}
