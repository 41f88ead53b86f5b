/* An imported run beside what import would make of its files now; see import.h. */
#include "driver/exchange/import.h"

#include "base/file.h"
#include "driver/exchange/import_config.h"
#include "driver/exchange/import_text.h"
#include "driver/run/record.h"
#include "driver/run/vocabularies.h"
#include "frontend/frontend.h"
#include "runtime/data/token_rules.h"

#include <string.h>

enum { LARGEST_CONFIG = 1 << 20 };

/* In RUN/published, once the run was compared. */
static const char compared_file[] = "compared";

typedef struct ImportAgain {
    Job quiet; /* what goes wrong is said by the command itself, if it needs the file */
    const char *run, *folder;
    RunRecord record;
    ImportConfig config;
    TextList changes;
} ImportAgain;

/* What --token said of the import. */
static TextList said_tokens(const ImportAgain *a)
{
    static const char option[] = "--token";
    const TextList *words = &a->record.command;
    TextList said = {0};
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->data[i];
        const size_t n = strlen(option);
        if (!strcmp(word, option) && i + 1 < words->count)
            vec_push(a->quiet.arena, said, words->data[++i]);
        else if (!strncmp(word, option, n) && word[n] == '=')
            vec_push(a->quiet.arena, said, word + n + 1);
    }
    return said;
}

/* The rules that import would record now. False after an error. */
static bool read_rules(ImportAgain *a, TextList *rules)
{
    Job *job = &a->quiet;
    Vocabulary *vocab = vocabulary_of_run(job, a->run, &a->record);
    TextList tokens = {0};
    const bool ok = vocab && import_config_tokens(job, &a->config, vocab, &tokens) &&
                    token_rules_set(vocab, &job->diags, tokens.data, tokens.count) &&
                    (a->record.kind == CORPUS_PAIRS
                         ? import_text_source(job, a->folder, &a->config, vocab, &tokens)
                         : import_text_tokens(job, a->folder, &a->config, vocab, &tokens));
    const TextList said = said_tokens(a);
    *rules = import_text_rules(job->arena, &tokens, &said);
    return ok;
}

/* Whether a rule of the list is of the same name. */
static bool has_rule(const TextList *list, const char *rule)
{
    const size_t n = strcspn(rule, "=") + 1;
    for (size_t i = 0; i < list->count; i++)
        if (!strncmp(list->data[i], rule, n))
            return true;
    return false;
}

static void add_change(ImportAgain *a, const char *text)
{
    vec_push(a->quiet.arena, a->changes, text);
}

static void compare_rules(ImportAgain *a, const TextList *now)
{
    const TextList *was = &a->record.tokens;
    for (size_t i = 0; i < now->count; i++)
        if (!text_list_has(was, now->data[i]))
            add_change(a, now->data[i]);
    for (size_t i = 0; i < was->count; i++) /* that of rows without tokens stays */
        if (!has_rule(now, was->data[i]) && strncmp(was->data[i], "size=", 5) != 0)
            add_change(a, arena_printf(a->quiet.arena, "no %s", was->data[i]));
}

/* Whether the run's model leaves out the token that Marian does not have. */
static void compare_absent(ImportAgain *a)
{
    if (strcmp(a->config.model->type, "marian") != 0)
        return;
    const Source *model =
        job_read(&a->quiet, a->run, file_in(a->quiet.arena, a->run, "model.tfg"), MODEL_MAX_BYTES);
    if (model && !strstr(model->text, "const absent"))
        add_change(a, "<pad> out of the softmax");
}

static const char *changes_text(const ImportAgain *a)
{
    Arena *arena = a->quiet.arena;
    return text_visible_name(arena, text_join(arena, a->changes.data, a->changes.count));
}

/* Whether an earlier tfc imported it, and nobody has compared it since. */
static bool is_due(ImportAgain *a)
{
    Arena *arena = a->quiet.arena;
    a->folder = file_in(arena, a->run, "published");
    return is_run_folder(a->run) && run_record_read(&a->quiet, a->run, &a->record) &&
           a->record.is_import && !a->record.knows_generation && a->record.command.count > 1 &&
           !strcmp(a->record.command.data[1], "import") &&
           (a->record.kind == CORPUS_PAIRS || a->record.kind == CORPUS_STREAM) &&
           !file_exists(file_in(arena, a->folder, compared_file)) &&
           job_read(&a->quiet, a->run, file_in(arena, a->folder, PUBLISHED_CONFIG), LARGEST_CONFIG);
}

void import_tell_again(Job *job, const char *run)
{
    ImportAgain a = {.quiet = job_quiet(job, job->arena), .run = run};
    TextList rules, generation = {0};
    if (!is_due(&a) || !import_config_read(&a.quiet, a.folder, NULL, &a.config) ||
        !read_rules(&a, &rules))
        return;
    compare_rules(&a, &rules);
    import_generation(&a.quiet, &a.config, &generation);
    for (size_t i = 0; i < generation.count; i++)
        add_change(&a, generation.data[i]);
    compare_absent(&a);
    if (a.changes.count)
        diag_remark(&job->diags, (Loc){0},
                    "%s was imported by an earlier tfc, and stays as it is; imported now it would "
                    "have %s (tfc import %s -o NEW)",
                    run, changes_text(&a), text_visible_name(job->arena, a.record.model));
    const char *told = a.changes.count ? "told\n" : "nothing to tell\n";
    file_write_own(&a.quiet.diags, file_in(job->arena, a.folder, compared_file), told,
                   strlen(told));
}
