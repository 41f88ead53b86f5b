/* What the options of tfc train come to: with --resume those that the run began with are put
 * before them. */
#define _GNU_SOURCE
#include "cli/options/training.h"

#include "base/file.h"
#include "base/limits.h"
#include "cli/commands/commands.h"
#include "driver/exchange/import.h"
#include "driver/run/run_model.h"
#include "driver/train/best.h"
#include "runtime/train/runlog.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a run remembers ---- */

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name))
        names++;
    return *names != NULL;
}

/* Recorded as they come to be, not as they were typed. */
static const char *const settled[] = {"set", "token", "best", "no-bleu", NULL};

/* A value that names a file, "FILE", "FILE:…", "NAME=FILE" or "FOLDER", by an absolute path. NULL
 * after an error. */
static const char *absolute_value(Job *job, const Option *option, const char *value)
{
    const char *equals = strcmp(option->value, "NAME=FILE") ? NULL : strchr(value, '=');
    if (equals) {
        static const Option file = {.value = "FILE"};
        const char *path = absolute_value(job, &file, equals + 1);
        return path ? arena_printf(job->arena, "%.*s%s", (int)(equals + 1 - value), value, path)
                    : NULL;
    }
    const char *rest = strstr(option->value, "FILE:") ? strrchr(value, ':') : NULL;
    rest = rest ? rest : value + strlen(value);
    bool is_file = !strncmp(option->value, "FILE", 4) || !strcmp(option->value, "FOLDER");
    if (!is_file)
        return value;
    const char *path = file_absolute(&job->diags, job->arena,
                                     arena_strndup(job->arena, value, (size_t)(rest - value)));
    return path ? arena_printf(job->arena, "%s%s", path, rest) : NULL;
}

static void add_words(Job *job, TextList *words, const char *option, const TextList *values)
{
    for (size_t i = 0; i < values->count; i++) {
        vec_push(job->arena, *words, option);
        vec_push(job->arena, *words, values->data[i]);
    }
}

/* What --resume is to repeat. Files by absolute paths: it may be called from elsewhere. False after
 * an error. */
static bool words_to_keep(Job *job, const TrainOptions *o, const Arguments *arguments,
                          TextList *out)
{
    TextList words = {0};
    for (size_t i = 0; i < arguments->given.count; i++) {
        const Option *option = arguments->given.data[i].option;
        const char *value = arguments->given.data[i].value;
        if (!option_is_recorded(option) || is_among(option->name, settled))
            continue;
        if (!strcmp(option->name, "minutes")) /* those before included */
            value = arena_printf(job->arena, "%.10g", o->minutes);
        vec_push(job->arena, words, arena_printf(job->arena, "--%s", option->name));
        if (value && !(value = absolute_value(job, option, value)))
            return false;
        if (value)
            vec_push(job->arena, words, value);
    }
    add_words(job, &words, "--set", &o->settings);
    add_words(job, &words, "--token", &o->vocab.tokens);
    if (o->best)
        add_words(job, &words, "--best", &(TextList){.data = &(const char *){o->best}, .count = 1});
    if (o->no_bleu)
        vec_push(job->arena, words, "--no-bleu");
    *out = words;
    return true;
}

/* The value behind a word such as "--vocab"; NULL without. */
static const char *word_value(const TextList *words, const char *word)
{
    for (size_t i = 0; i + 1 < words->count; i++)
        if (!strcmp(words->data[i], word))
            return words->data[i + 1];
    return NULL;
}

/* An option that was not typed but follows from a run's folder. False after an error. */
static bool keep_file(Job *job, TextList *words, const char *word, const char *file)
{
    if (!file || word_value(words, word))
        return true;
    const char *path = file_absolute(&job->diags, job->arena, file);
    vec_push(job->arena, *words, word);
    vec_push(job->arena, *words, path);
    return path != NULL;
}

/* The run's settings without the sizes of its vocabulary, unless they are given now. */
static TextList without_sizes(Job *job, const TextList *all, const TextList *given)
{
    TextList kept = {0};
    for (size_t i = 0; i < all->count; i++) {
        const size_t name = strcspn(all->data[i], "=");
        const bool is_size = !strncmp(all->data[i], "vocab=", name + 1) ||
                             !strncmp(all->data[i], "source_vocab=", name + 1);
        if (!is_size || setting_value(given, arena_strndup(job->arena, all->data[i], name)))
            vec_push(job->arena, kept, all->data[i]);
    }
    return kept;
}

/* Whether "INPUT=FIELD" is given for the input. */
static bool is_given(const TextList *given, const char *field)
{
    const size_t name = strcspn(field, "=") + 1;
    for (size_t i = 0; i < given->count; i++)
        if (!strncmp(given->data[i], field, name))
            return true;
    return false;
}

/* The fields that the run was trained with, where no others are given, and those. */
static TextList fields_of_run(Job *job, const RunRecord *record, const TextList *given)
{
    TextList all = {0};
    for (size_t i = 0; i + 1 < record->arguments.count; i++)
        if (!strcmp(record->arguments.data[i], "--column") &&
            !is_given(given, record->arguments.data[i + 1]))
            vec_push(job->arena, all, record->arguments.data[i + 1]);
    for (size_t i = 0; i < given->count; i++)
        vec_push(job->arena, all, given->data[i]);
    return all;
}

/* "tfc train RUN -o NEW": a new run of RUN's model, settings and vocabulary that begins from
 * its params; an exit status. */
static int begin_from(Job *job, TrainOptions *o)
{
    const char *run = o->model;
    RunRecord record;
    if (!run_record_read(job, run, &record))
        return EXIT_INPUT;
    if (record.quantised && !o->weights)
        diag_remark(&job->diags, (Loc){0},
                    "%s is quantised (%s): the training is in %s, and begins from params that were "
                    "rounded; those of the run that it was made of were not",
                    run, record.quantised, o->dtype ? o->dtype : "f32");
    const SessionOptions own = run_session_options(job, run, &record, &o->settings);
    o->model = own.path;
    o->library = own.library;
    o->reach = own.reach;
    o->settings = o->vocab.spec ? without_sizes(job, &own.settings, &o->settings) : own.settings;
    if (o->texts.data.count)
        o->columns = fields_of_run(job, &record, &o->columns);
    if (!o->weights)
        o->weights = run;
    if (!o->vocab.spec && !o->prepared)
        o->vocab.spec = run; /* with its rules: vocabulary_take_rules */
    return EXIT_DONE;
}

/* "tfc train RUN --resume" is the run -o RUN, without a model; an exit status. */
static int name_run(Job *job, TrainOptions *o, const Arguments *arguments)
{
    o->model = arguments->count ? arguments->words[0] : NULL;
    if (o->model)
        o->reach = model_reach(job, o->model);
    if (!o->model || !is_run_folder(o->model))
        return EXIT_DONE;
    import_tell_again(job, o->model);
    if (!o->resume && o->out && strcmp(o->out, o->model))
        return begin_from(job, o);
    if (!o->resume)
        return cli_usage_error("%s is the folder of a run; --resume continues it, "
                               "-o NEW begins another from its params",
                               o->model);
    if (o->out && strcmp(o->out, o->model))
        return cli_usage_error(
            "--resume continues %s, and -o names another run, %s: leave one of the two options out",
            o->model, o->out);
    o->out = o->model;
    o->model = NULL;
    return EXIT_DONE;
}

/* What the training itself needs of the options that several commands have. */
static void take_common(TrainCommand *command)
{
    const Common *common = &command->common;
    command->o.dtype = common->dtype;
    command->o.memory = common->memory;
    command->o.line_limit = common->line_limit;
    command->o.settings = common->settings;
}

/* Options that say together which params train: what is given of them now takes the place of
 * all. */
static const char *const choosing[] = {"freeze", "only", NULL};

/* Whether the option is given now, and so replaces what the run remembers of it. --set and --token
 * are merged by name instead. */
static bool is_replaced(const Option *option, const Arguments *now)
{
    static const char *const merged[] = {"set", "token", NULL};
    if (is_among(option->name, merged))
        return false;
    bool chooses = is_among(option->name, choosing);
    for (size_t i = 0; i < now->given.count; i++) {
        const Option *given = now->given.data[i].option;
        if (given == option || (chooses && is_among(given->name, choosing)))
            return true;
    }
    return false;
}

/* Whether an option gives a text to validate on. */
static bool gives_validation(const char *name)
{
    return !strncmp(name, "valid", strlen("valid")) && strcmp(name, "validate-every");
}

/* Whether any of the words, or what is given now, gives a text to validate on. */
static bool validates(const TextList *was, const Arguments *now)
{
    for (size_t i = 0; i < was->count; i++)
        if (!strncmp(was->data[i], "--", 2) && gives_validation(was->data[i] + 2))
            return true;
    for (size_t i = 0; i < now->given.count; i++)
        if (gives_validation(now->given.data[i].option->name))
            return true;
    return false;
}

/* The words without what 0.2.0 took though it did nothing, and what is refused today: a time of 0,
 * and counts of validations where there are none. */
static TextList without_idle(Job *job, const TextList *was, const Arguments *now)
{
    static const char *const counts[] = {"--patience", "--validate-every", NULL};
    TextList words = {0};
    const bool are_counted = validates(was, now);
    for (size_t i = 0; i < was->count; i++) {
        const char *word = was->data[i], *value = i + 1 < was->count ? was->data[i + 1] : NULL;
        if (value && ((!strcmp(word, "--minutes") && !strtod(value, NULL)) ||
                      (!are_counted && is_among(word, counts))))
            i++;
        else
            vec_push(job->arena, words, word);
    }
    return words;
}

/* The recorded words that are still valid, then those of this command line. NULL after an error:
 * `file`, which has the recorded ones, may be a stranger's. */
static char **join_words(Job *job, const char *file, const TextList *recorded, const Arguments *now,
                         int *n)
{
    const TextList was = without_idle(job, recorded, now);
    Arena *arena = job->arena;
    char **words = ARENA_ARRAY(arena, char *, was.count + (size_t)now->argc + 1);
    Arguments kept;
    if (!options_parse_file(job, &command_train, file, &was, &kept))
        return NULL;
    words[0] = now->argv[0];
    *n = 1;
    for (size_t i = 0; i < kept.given.count; i++) {
        const GivenOption *given = &kept.given.data[i];
        if (is_replaced(given->option, now))
            continue;
        const char *equals = given->value ? "=" : "", *value = given->value ? given->value : "";
        words[(*n)++] = arena_printf(arena, "--%s%s%s", given->option->name, equals, value);
    }
    for (int i = 1; i < now->argc; i++)
        words[(*n)++] = now->argv[i];
    return words;
}

/* Whether all that is given of an option is what the run began with, in the same order: a command
 * may be repeated. */
static bool repeats_option(Job *job, const char *name, const Arguments *now,
                           const TextList *recorded)
{
    TextList was = {0};
    size_t n = 0;
    for (size_t i = 0; i + 1 < recorded->count; i++)
        if (!strncmp(recorded->data[i], "--", 2) && !strcmp(recorded->data[i] + 2, name))
            vec_push(job->arena, was, recorded->data[i + 1]);
    for (size_t i = 0; i < now->given.count; i++) {
        const GivenOption *given = &now->given.data[i];
        if (strcmp(given->option->name, name) != 0)
            continue;
        const char *value = absolute_value(job, given->option, given->value);
        if (!value || n == was.count || strcmp(was.data[n++], value) != 0)
            return false;
    }
    return !n || n == was.count;
}

/* What a training that goes on cannot change; 0 if nothing of it is given. */
static int check_kept(Job *job, const TrainOptions *now, const Arguments *arguments,
                      const RunRecord *record)
{
    const char *vocab = word_value(&record->arguments, "--vocab");
    if (now->vocab.source || now->vocab.tokens.count || now->vocab.normalize)
        return cli_usage_error("the vocabulary of a run stays: leave %s out",
                               now->vocab.source         ? "--source-vocab"
                               : now->vocab.tokens.count ? "--token"
                                                         : "--normalize");
    if (!repeats_option(job, "mix", arguments, &record->arguments))
        return cli_usage_error("a run keeps the texts that it began with, those of --mix, too: "
                               "give these --mix again, or leave them out");
    if (now->vocab.spec && vocab && strcmp(now->vocab.spec, vocab))
        return cli_usage_error("the vocabulary of a run stays: %s began with --vocab %s, "
                               "not %s; leave the option out",
                               now->out, vocab, now->vocab.spec);
    if (!repeats_option(job, "weights", arguments, &record->arguments))
        return cli_usage_error("%s goes on from its own checkpoint: leave --weights out", now->out);
    return 0;
}

/* What is said now is stronger than what the run began with, where both cannot be: a measure of
 * translations, and no translations. */
static void settle_best(Job *job, TrainOptions *o, const TrainOptions *now, const RunRecord *record)
{
    TrainOptions was = *o;
    was.best = word_value(&record->arguments, "--best");
    const char *text = training_best_option(job->arena, &was).text;
    BestOption best = training_best_option(job->arena, o);
    if (now->best && !best.text && text) { /* a measure alone: the text stays */
        best.text = text;
        o->best = train_best_text(job->arena, text, best.measure);
    }
    if (!o->no_bleu || !best.measure || best.measure->needs != NEEDS_TRANSLATIONS ||
        run_record_fact(record, "columns")) /* of tables it is counted on labels of CTC */
        return;
    if (!now->best)
        o->best = best.text;
    else if (!now->no_bleu)
        o->no_bleu = false;
}

/* Adds to *minutes those that the run has trained so far, by its log. */
static bool add_spent_minutes(Job *job, const char *run, double *minutes)
{
    RunLog log = {0};
    if (!runlog_read(&job->diags, job->arena, job_reach(job, run), &log))
        return false;
    const double spent = log.count ? vec_last(log).seconds / 60 : 0;
    *minutes += spent;
    return (spent >= 0 && *minutes <= LIMIT_minutes) ||
           job_error(job,
                     "%s: its last line says that the run has trained for %g minutes, which with "
                     "those of --minutes is not from 0 to %d: mend or remove that line",
                     file_in(job->arena, run, "log.jsonl"), spent, LIMIT_minutes);
}

/* "--verify RUN": its options are recalled; --weights names where to begin, and is taken out of the
 * arguments. An exit status. */
static int name_verified(Job *job, TrainOptions *o, Arguments *all)
{
    Arguments rest = {.count = all->count, .words = all->words, .file = all->file};
    RunRecord record;
    if (all->count || o->resume)
        return cli_usage_error("--verify %s repeats that run by its own record: leave %s out",
                               o->verify, o->resume ? "--resume" : all->words[0]);
    if (!run_argument(job, o->verify) || !run_record_read(job, o->verify, &record))
        return EXIT_INPUT;
    if (record.is_import) {
        job_error(job, "%s was imported: there is no training to repeat", o->verify);
        return EXIT_INPUT;
    }
    for (size_t i = 0; i < all->given.count; i++)
        if (!strcmp(all->given.data[i].option->name, "steps") ||
            !strcmp(all->given.data[i].option->name, "minutes"))
            return cli_usage_error("--verify %s repeats the steps up to the run's last checkpoint: "
                                   "leave --%s out",
                                   o->verify, all->given.data[i].option->name);
    rest.argv = ARENA_ARRAY(job->arena, char *, all->argc + 1);
    for (int i = 0; i < all->argc; i++)
        if (!strcmp(all->argv[i], "--weights"))
            i++;
        else if (strncmp(all->argv[i], "--weights=", strlen("--weights=")))
            rest.argv[rest.argc++] = all->argv[i];
    for (size_t i = 0; i < all->given.count; i++)
        if (strcmp(all->given.data[i].option->name, "weights"))
            vec_push(job->arena, rest.given, all->given.data[i]);
    o->begin = o->weights;
    o->weights = NULL;
    *all = rest;
    return EXIT_DONE;
}

/* Parses again, with the run's options before those given; an exit status. Without a model
 * the run's own copy is meant. */
static int recall(Job *job, TrainCommand *command, Arguments *arguments)
{
    TrainOptions *o = &command->o;
    const TrainOptions now = *o;
    RunRecord *record = ARENA_NEW(job->arena, RunRecord);
    const char *home = now.verify ? now.verify : now.out;
    if (!run_record_read(job, home, record))
        return EXIT_INPUT;
    if (record->quantised) {
        job_error(job,
                  "%s is quantised (%s) and cannot be resumed: resume the run it was made of, "
                  "or train from its weights by --weights %s",
                  home, record->quantised, home);
        return EXIT_INPUT;
    }
    bool goes_on = now.verify || run_can_resume(job, home);
    int n, status = job->diags.errors ? EXIT_INPUT
                    : goes_on         ? check_kept(job, &now, arguments, record)
                                      : 0;
    if (status)
        return status;
    char **words = join_words(job, run_record_file(job, home), &record->arguments, arguments, &n);
    if (!words)
        return EXIT_INPUT;
    if (!common_parse(job, &command_train, n, words, command, arguments, &status))
        return status;
    take_common(command);
    if (goes_on && now.minutes > 0 && !add_spent_minutes(job, now.out, &o->minutes))
        return EXIT_INPUT;
    settle_best(job, o, &now, record);
    o->settings = merge_settings(job->arena, &o->settings, &(TextList){0});
    o->out = now.out;
    o->home = home;
    o->begin = now.begin;
    o->record = goes_on ? record : NULL;
    o->model = now.model;
    o->reach = now.reach;
    if (!o->model) {
        const SessionOptions own = run_session_options(job, home, record, &o->settings);
        o->model = own.path;
        o->library = own.library;
        o->reach = own.reach;
    }
    return EXIT_DONE;
}

/* Recalled: the words of this command line, and all, with those that the run was begun with. */
typedef struct Recalled {
    Arguments now, all;
} Recalled;

/* CliFileNote: a file that only the run has named may have moved since. */
static const char *option_of_recalled(const void *with, Arena *arena, const char *path)
{
    const Recalled *r = with;
    const char *now = option_of_file(&r->now, arena, path);
    const char *was = *now ? "" : option_of_file(&r->all, arena, path);
    const int n = (int)strlen(was);
    return n ? arena_printf(arena, "%.*s of the run; %.*s says where it is now)", n - 1, was, n - 3,
                            was + 2)
             : now;
}

int training_options(Job *job, const Arguments *given, TrainCommand *command)
{
    TrainOptions *o = &command->o;
    Arguments all = *given;
    take_common(command);
    int status = o->verify ? name_verified(job, o, &all) : name_run(job, o, given);
    if (!status && (o->verify || (o->resume && o->out && is_run_folder(o->out))))
        status = recall(job, command, &all);
    if (status)
        return status;
    Recalled *recalled = ARENA_NEW(job->arena, Recalled);
    *recalled = (Recalled){.now = *given, .all = all};
    cli_note_files(option_of_recalled, recalled);
    vec_push(job->arena, o->command, "tfc");
    for (int i = 0; i < given->argc; i++)
        vec_push(job->arena, o->command, given->argv[i]);
    return words_to_keep(job, o, &all, &o->arguments) &&
                   keep_file(job, &o->arguments, "--vocab", o->vocab.spec) &&
                   keep_file(job, &o->arguments, "--weights", o->weights)
               ? EXIT_DONE
               : EXIT_INPUT;
}
