/* What differs between a run's record and that of the training that resumes or repeats it: each
 * difference is reported by name, and refused without --allow-change. */
#include "driver/train/training.h"

#include "driver/run/run_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

typedef struct Changes {
    Training *t;
    int n;
} Changes;

static void tell_at(Changes *c, Loc loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void tell_at(Changes *c, Loc loc, const char *format, ...)
{
    Job *job = c->t->job;
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(job->arena, format, args);
    va_end(args);
    c->n++;
    if (c->t->options->allow_change)
        diag_warning(&job->diags, loc, "%s", text);
    else
        diag_error(&job->diags, loc, "%s", text);
}
#define tell(c, ...) tell_at(c, (Loc){0}, __VA_ARGS__)

/* ---- the model ---- */

static const char *setting_name(const Changes *c, const char *setting)
{
    return arena_strndup(c->t->job->arena, setting, strcspn(setting, "="));
}

static void compare_settings(Changes *c, const TextList *was, const TextList *now)
{
    for (size_t i = 0; i < now->count; i++) {
        const char *name = setting_name(c, now->data[i]), *value = setting_value(now, name),
                   *old = setting_value(was, name);
        if (!old)
            tell(c, "the const %s was as the model has it and is now %s", name, value);
        else if (strcmp(old, value))
            tell(c, "the const %s was %s and is now %s", name, old, value);
    }
    for (size_t i = 0; i < was->count; i++) {
        const char *name = setting_name(c, was->data[i]);
        if (!setting_value(now, name))
            tell(c, "the const %s was %s and is now as the model has it", name,
                 setting_value(was, name));
    }
}

/* The patterns of an option, with blanks between them; "" without. */
static const char *patterns_text(Arena *arena, const TextList *words, const char *option)
{
    const char *text = "";
    for (size_t i = 0; i + 1 < words->count; i++)
        if (!strcmp(words->data[i], option))
            text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", words->data[++i]);
    return text;
}

/* Which params train. */
static void compare_patterns(Changes *c, const RunRecord *was, const RunRecord *now)
{
    static const char *const options[] = {"--freeze", "--only"};
    for (int i = 0; i < 2; i++) {
        Arena *arena = c->t->job->arena;
        const char *before = patterns_text(arena, &was->arguments, options[i]);
        const char *after = patterns_text(arena, &now->arguments, options[i]);
        if (strcmp(before, after))
            tell(c, "%s: it was %s and is now %s", options[i], *before ? before : "not given",
                 *after ? after : "not given");
    }
}

/* Tells the first line that differs, if one does. */
static void compare_file(Changes *c, const Source *file, const Source *copy)
{
    const char *a = copy->text, *b = file->text;
    for (int line = 1; *a || *b; line++) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n)) {
            Loc loc = {.source = file, .line = line, .column = 1, .length = (int)(m ? m : 1)};
            if (*a)
                tell_at(c, loc, "the model was another: line %d of %s is '%.*s'", line, copy->path,
                        (int)n, a);
            else
                tell_at(c, loc, "the model was another: %s has no line %d", copy->path, line);
            return;
        }
        a += n + (a[n] != 0);
        b += m + (b[m] != 0);
    }
}

static void compare_files(Changes *c)
{
    Training *t = c->t;
    Job *job = t->job;
    for (size_t i = 0; i < t->session.model->files.count; i++) {
        const Source *file = t->session.model->files.data[i];
        const char *path =
            file_in(job->arena, t->options->home, model_file_place(t->session.model, file));
        const Source *copy = NULL;
        if (file_exists(path))
            copy = job_read(job, t->options->home, path, MODEL_MAX_BYTES);
        if (copy)
            compare_file(c, file, copy);
    }
}

/* The graphs differ: by what? */
static void explain_model(Changes *c, const RunRecord *was, const RunRecord *now)
{
    int before = c->n;
    compare_settings(c, &was->settings, &now->settings);
    compare_patterns(c, was, now);
    compare_files(c);
    const char *changed =
        c->n == before ? run_model_changed(c->t->job, c->t->session.model, was) : NULL;
    if (changed)
        tell(c, "%s was changed since the run began: put it back, or train it with another -o",
             changed);
    else if (c->n == before)
        tell(
            c,
            "the model's graph was another: this version of tfc makes another one of the same text");
}

/* ---- everything else ---- */

/* Whether the rate's schedule is the same but for its last step. */
static bool ends_elsewhere(const RunFact *fact, const char *old)
{
    static const char last[] = "steps = ";
    const char *a = strstr(fact->value, last), *b = strstr(old, last);
    return !strcmp(fact->name, "rate") && a && b && a - fact->value == b - old &&
           !strncmp(fact->value, old, (size_t)(b - old));
}

/* The numbers of another version of tfc. */
static void tell_numbers(Changes *c, const RunRecord *was, const char *old, const char *new)
{
    Arena *arena = c->t->job->arena;
    const char *by = arena_printf(arena, "tfc %s%s%s", was->version ? was->version : "unknown",
                                  was->commit ? ", commit " : "", was->commit ? was->commit : "");
    tell(c,
         "numbers: they were %s (%s), and this build computes those of version %s: its next steps "
         "would have other bits than that build's",
         old ? arena_printf(arena, "those of version %s", old) : "of before they had versions", by,
         new);
}

/* A fact that may be another, since the bits are the same: a note says so. */
static bool is_noted(Changes *c, const RunFact *fact, const char *old, const RunRecord *was,
                     const RunRecord *now)
{
    const char *bits = run_record_fact(was, "bits"), *numbers = run_record_fact(was, "numbers");
    const bool same_numbers = numbers && !strcmp(numbers, run_record_fact(now, "numbers"));
    Diagnostics *diags = &c->t->job->diags;
    if (!strcmp(fact->name, "bits") && !old)
        return true; /* of an earlier build, which the numbers tell of */
    if (!strcmp(fact->name, "version")) {
        if (same_numbers)
            diag_remark(diags, (Loc){0},
                        "the run was begun by tfc %s and goes on with %s, which computes the same "
                        "bits",
                        old, fact->value);
        return true;
    }
    if (strcmp(fact->name, "cpu") || !bits || strcmp(bits, COMMON_BITS) ||
        strcmp(run_record_fact(now, "bits"), COMMON_BITS))
        return false;
    diag_remark(diags, (Loc){0}, "the run computed on %s, and goes on on %s: the bits are the same",
                old, fact->value);
    return true;
}

static void compare_facts(Changes *c, const RunRecord *was, const RunRecord *now)
{
    for (size_t i = 0; i < now->facts.count; i++) {
        const RunFact *fact = &now->facts.data[i];
        const char *old = run_record_fact(was, fact->name);
        if ((old && !strcmp(old, fact->value)) || is_noted(c, fact, old, was, now))
            continue;
        if (!strcmp(fact->name, "numbers")) {
            tell_numbers(c, was, old, fact->value);
            continue;
        }
        if (old && !strcmp(fact->name, "model"))
            explain_model(c, was, now);
        else
            tell(
                c, "%s: it was %s and is now %s%s", fact->name, old ? old : "not recorded",
                fact->value,
                old && ends_elsewhere(fact, old)
                    ? ": its schedule ends where --steps says, so the next steps would take the rates of "
                      "the other schedule"
                    : "");
    }
    const char *rounded = run_record_fact(was, ROUNDED_GRADIENTS);
    if (rounded && !run_record_fact(now, ROUNDED_GRADIENTS))
        tell(c, "%s: it was %s and is now f32", ROUNDED_GRADIENTS, rounded);
}

/* Another version may cut texts, or make vocabularies, otherwise: the run keeps its vocabulary, and
 * the texts' ids are compared in any case (train_config). */
static void note_libraries(Changes *c, const RunRecord *was, const RunRecord *now)
{
    for (size_t i = 0; i < now->libraries.count; i++) {
        const RunFact *library = &now->libraries.data[i];
        const char *old = run_record_library(was, library->name);
        if (old && strcmp(old, library->value))
            diag_remark(&c->t->job->diags, (Loc){0},
                        "%s was %s when the run began, and is %s: texts may be cut otherwise",
                        library->name, old, library->value);
    }
}

/* The text of `record` that text i of `other` is to be compared with: of the same option, which may
 * be given several times, and as many before it; NULL: there is none. */
static const RunText *find_text(const RunRecord *record, const RunRecord *other, size_t i)
{
    const char *option = other->texts.data[i].option;
    int before = 0;
    for (size_t k = 0; k < i; k++)
        before += !strcmp(other->texts.data[k].option, option);
    for (size_t k = 0; k < record->texts.count; k++)
        if (!strcmp(record->texts.data[k].option, option) && !before--)
            return &record->texts.data[k];
    return NULL;
}

static void compare_texts(Changes *c, const RunRecord *was, const RunRecord *now)
{
    for (size_t i = 0; i < now->texts.count; i++) {
        const RunText *text = &now->texts.data[i], *old = find_text(was, now, i);
        if (!old)
            tell(c, "--%s %s: the run began without it", text->option, text->file);
        else if (strcmp(old->sha256, text->sha256))
            tell(c,
                 "--%s %s: it was %s%s%" PRId64 " line%s and %" PRId64
                 " bytes (sha256 %.12s…) and is now %" PRId64 " line%s and %" PRId64
                 " bytes (%.12s…)",
                 text->option, text->file, strcmp(old->file, text->file) ? old->file : "",
                 strcmp(old->file, text->file) ? " with " : "", old->lines,
                 text_plural(old->lines, "", "s"), old->bytes, old->sha256, text->lines,
                 text_plural(text->lines, "", "s"), text->bytes, text->sha256);
    }
    for (size_t i = 0; i < was->texts.count; i++)
        if (!find_text(now, was, i))
            tell(c, "--%s: it was %s and is not given now", was->texts.data[i].option,
                 was->texts.data[i].file);
}

/* The command as it was typed, with quotes where a word needs them. */
static const char *typed_command(const Training *t)
{
    Arena *arena = t->job->arena;
    const TextList *words = &t->options->command;
    const char *text = "";
    for (size_t i = 0; i < words->count; i++)
        text = arena_printf(arena, "%s%s%s", text, *text ? " " : "",
                            text_shell_word(arena, words->data[i]));
    return text;
}

bool training_may_go_on(Training *t, const RunRecord *was, const RunRecord *now, bool *changed)
{
    Changes c = {.t = t};
    compare_facts(&c, was, now);
    compare_texts(&c, was, now);
    note_libraries(&c, was, now);
    *changed = c.n > 0;
    if (!c.n || t->options->allow_change)
        return true;
    diag_note(
        &t->job->diags, (Loc){0},
        "with this, %s would not %s; to go on all the same, with the model and settings of now, "
        "type: %s --allow-change",
        t->options->home, t->options->verify ? "be repeated" : "go on as it began",
        typed_command(t));
    return false;
}
