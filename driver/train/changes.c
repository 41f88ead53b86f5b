/* What is another when a run goes on than it was when it began: told name by name, refused
 * without --allow-change. */
#include "driver/train/training.h"

#include "base/file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { LARGEST_MODEL = 1 << 24 };

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

static const char *value_of(const TextList *settings, const char *setting)
{
    size_t length = strcspn(setting, "=") + 1;
    for (size_t i = 0; i < settings->count; i++)
        if (!strncmp(settings->data[i], setting, length))
            return settings->data[i] + length;
    return NULL;
}

static void compare_settings(Changes *c, const TextList *was, const TextList *now)
{
    for (size_t i = 0; i < now->count; i++) {
        const char *setting = now->data[i], *old = value_of(was, setting);
        int length = (int)strcspn(setting, "=");
        if (!old)
            tell(c, "the const %.*s was as the model has it and is now %s", length, setting,
                 setting + length + 1);
        else if (strcmp(old, setting + length + 1))
            tell(c, "the const %.*s was %s and is now %s", length, setting, old,
                 setting + length + 1);
    }
    for (size_t i = 0; i < was->count; i++) {
        const char *setting = was->data[i];
        int length = (int)strcspn(setting, "=");
        if (!value_of(now, setting))
            tell(c, "the const %.*s was %s and is now as the model has it", length, setting,
                 setting + length + 1);
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
        const char *path = run_folder_copy(job, t->options->out, &t->session, file);
        const Source *copy = NULL;
        if (path && file_exists(path))
            copy = file_read(&job->diags, job->arena, path, LARGEST_MODEL);
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
    if (c->n == before)
        tell(c, "the model's graph was another, though its text is the same");
}

/* ---- everything else ---- */

static void compare_facts(Changes *c, const RunRecord *was, const RunRecord *now)
{
    for (size_t i = 0; i < now->facts.count; i++) {
        const RunFact *fact = &now->facts.data[i];
        const char *old = run_record_fact(was, fact->name);
        if (old && !strcmp(old, fact->value))
            continue;
        if (old && !strcmp(fact->name, "model"))
            explain_model(c, was, now);
        else
            tell(c, "%s: it was %s and is now %s", fact->name, old ? old : "not recorded",
                 fact->value);
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
                 strcmp(old->file, text->file) ? " with " : "", old->lines, text_plural(old->lines, "", "s"), old->bytes,
                 old->sha256, text->lines, text_plural(text->lines, "", "s"), text->bytes, text->sha256);
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
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->data[i];
        bool plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=@+-") == strlen(word);
        text = arena_printf(arena, plain ? "%s%s%s" : "%s%s'%s'", text, *text ? " " : "", word);
    }
    return text;
}

bool training_may_go_on(Training *t, const RunRecord *was, const RunRecord *now, bool *changed)
{
    Changes c = {.t = t};
    compare_facts(&c, was, now);
    compare_texts(&c, was, now);
    *changed = c.n > 0;
    if (!c.n || t->options->allow_change)
        return true;
    diag_note(&t->job->diags, (Loc){0},
              "with this, %s would not go on as it began; to go on all the same, with the model and settings of now, "
              "type: %s --allow-change",
              t->options->out, typed_command(t));
    return false;
}
