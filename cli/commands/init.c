/* tfc init: begins a project. What options do not say is asked for on a terminal. */
#define _GNU_SOURCE
#include "base/team.h"
#include "cli/commands/commands.h"
#include "cli/report/survey_print.h"
#include "driver/project/project.h"
#include "runtime/data/tmx.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXAMPLES = 2 };

typedef struct Init {
    Common common;
    const char *kind;
    TextFiles data;
    TextList columns; /* "NAME=FIELD" */
    const char *languages;
    double minutes;
} Init;

/* ---- questions ---- */

static bool can_ask(void) { return isatty(STDIN_FILENO) && isatty(STDERR_FILENO); }

/* The answer, without blanks around it, in the arena; NULL: there is none. */
static const char *ask(Job *job, const char *question)
{
    char *line = NULL;
    size_t room = 0;
    fprintf(stderr, "%s ", question);
    fflush(stderr);
    ssize_t n = getline(&line, &room, stdin);
    const char *answer = NULL;
    if (n > 0) {
        char *begin = line + strspn(line, " \t");
        begin[strcspn(begin, "\n")] = '\0';
        for (size_t end = strlen(begin); end && strchr(" \t\r", begin[end - 1]); end--)
            begin[end - 1] = '\0';
        answer = arena_strdup(job->arena, begin);
    }
    free(line);
    return answer;
}

/* The same until it is not empty; NULL: no more answers. */
static const char *ask_again(Job *job, const char *question)
{
    const char *answer;
    do
        answer = ask(job, question);
    while (answer && !*answer);
    return answer;
}

static ProjectKind ask_kind(Job *job)
{
    fprintf(stderr, "What is it to be?\n");
    for (ProjectKind kind = 0; kind < PROJECT_KINDS; kind++)
        fprintf(stderr, "  %d  %-15s %s\n", (int)kind + 1, project_kind(kind)->name,
                project_kind(kind)->summary);
    for (const char *answer; (answer = ask_again(job, "Number or name:"));) {
        ProjectKind kind = project_kind_find(answer);
        if (kind == PROJECT_KINDS && answer[0] >= '1' && answer[0] < '1' + (int)PROJECT_KINDS &&
            !answer[1])
            kind = (ProjectKind)(answer[0] - '1');
        if (kind != PROJECT_KINDS)
            return kind;
    }
    return PROJECT_KINDS;
}

/* Adds the answer to the list; false: there is none. */
static bool ask_file(Job *job, const char *question, TextList *list)
{
    const char *file = ask_again(job, question);
    if (file)
        vec_push(job->arena, *list, file);
    return file != NULL;
}

static bool ask_data(Job *job, const ProjectKindInfo *kind, TextFiles *data)
{
    if (kind->form == PROJECT_TEXT)
        return ask_file(job, "The file of the text:", &data->text);
    if (project_is_table(kind))
        return ask_file(job,
                        arena_printf(job->arena,
                                     "The table with `%s` and `%s` (a file that ends in one "
                                     "of" TABLE_ENDINGS_TEXT "):",
                                     kind->fields[0], kind->fields[1]),
                        &data->data);
    TextList first = {0};
    if (!ask_file(
            job, "The file of the sources, or FILE.tsv, FILE.csv or FILE.jsonl with both:", &first))
        return false;
    bool both = table_file_is_named(first.data[0]) || tmx_is_name(first.data[0]);
    *(both ? &data->data : &data->source) = first;
    return both || ask_file(job, "The file of the targets:", &data->target);
}

/* ---- usage ---- */

static const char *article(const ProjectKindInfo *kind)
{
    return strchr("aeiou", kind->name[0]) ? "an" : "a";
}

static const char *kind_names(Job *job)
{
    const char *names = "";
    for (ProjectKind kind = 0; kind < PROJECT_KINDS; kind++)
        names = arena_printf(job->arena, "%s%s%s", names,
                             !kind                      ? ""
                             : kind + 1 < PROJECT_KINDS ? ", "
                                                        : " or ",
                             project_kind(kind)->name);
    return names;
}

/* PROJECT_KINDS after a usage error. */
static ProjectKind find_kind(Job *job, const Init *command)
{
    ProjectKind kind = command->kind ? project_kind_find(command->kind) : PROJECT_KINDS;
    if (!command->kind && can_ask())
        kind = ask_kind(job);
    else if (!command->kind)
        cli_usage_error("--kind is needed: %s", kind_names(job));
    else if (kind == PROJECT_KINDS)
        cli_usage_error("--kind %s: it is %s", command->kind, kind_names(job));
    return kind;
}

static int check_data(Job *job, const TextFiles *data, const Init *command,
                      const ProjectKindInfo *kind)
{
    const char *languages = command->languages;
    const char *mistake =
        text_files_mistake(job->arena, data, "", TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT);
    if (!mistake)
        mistake = text_files_in_vain(job->arena, data, false, languages, NULL, NULL);
    bool has_text = data->text.count > 0, has_side = data->source.count || data->target.count;
    bool pair = data->source.count && data->target.count && !data->data.count,
         one = data->data.count && !has_side;
    if (mistake)
        return cli_usage_error("%s", mistake);
    if (kind->form == PROJECT_TEXT && (!has_text || has_side || data->data.count))
        return cli_usage_error("%s %s begins with --text F", article(kind), kind->name);
    if (project_is_table(kind) && (!one || has_text))
        return cli_usage_error("%s %s begins with --data F, a table of `%s` and `%s`",
                               article(kind), kind->name, kind->fields[0], kind->fields[1]);
    if (kind->form == PROJECT_TEXT && command->columns.count)
        return cli_usage_error(
            "--column names fields of tables, and %s %s reads none: leave it out", article(kind),
            kind->name);
    if (!project_is_table(kind) &&
        (mistake = text_files_columns_mistake(job->arena, data, NULL, NULL)))
        return cli_usage_error("%s", mistake);
    if (kind->form == PROJECT_PAIRS && (pair == one || has_text))
        return cli_usage_error("%s %s begins with --source F and --target F, or --data F",
                               article(kind), kind->name);
    return 0;
}

/* ---- what it does ---- */

static void print_project(Job *job, const Init *command, const char *folder,
                          const ProjectOptions *o, const Project *p, const char *fields)
{
    const ProjectSize *size = p->size;
    const ProjectKindInfo *kind = project_kind(o->kind);
    printf("\n%s: %s %s\n", folder, article(kind), kind->name);
    if (fields)
        printf("  table     %s\n", fields);
    printf("  data      %" PRId64 " lines to train on, %" PRId64 " to validate, %" PRId64
           " to test",
           p->parts.train, p->parts.valid, p->parts.test);
    if (p->parts.left_out)
        printf("; %" PRId64 " left out (%s)", p->parts.left_out,
               project_is_table(kind) ? "an empty field, or a label that training would not know"
                                      : "an empty side, or no text");
    if (p->parts.labels)
        printf("\n            %" PRId64 " different %s", p->parts.labels,
               kind->form == PROJECT_TAGS ? "tags" : "labels");
    if (p->parts.shared)
        printf("\n            %s", project_shared(job->arena, kind, &p->parts));
    printf("\n  model.tfg %d layer%s of %d, %d head%s: for so much text, and %d processor%s\n",
           size->layers, text_plural(size->layers, "", "s"), size->d_model, size->heads,
           text_plural(size->heads, "", "s"), o->processors, text_plural(o->processors, "", "s"));
    printf("  README.md the commands to go on, for %g minutes of training:\n\n", command->minutes);
    printf("cd %s\n%s", folder, p->commands);
}

/* A label or a tag is no translation of its text, and stands beside many. */
static void drop_translation_findings(Survey *found)
{
    static const SurveyKind kinds[] = {SURVEY_copy,  SURVEY_swapped, SURVEY_language,
                                       SURVEY_ratio, SURVEY_shifted, SURVEY_same_target};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        found->findings[kinds[i]].lines = 0;
        found->findings[kinds[i]].is_looked_for = false;
    }
}

/* The text with the fields' names in place of "source" and "target". */
static const char *with_fields(Arena *arena, const char *text, const ProjectKindInfo *kind)
{
    static const char *const sides[] = {"source", "target"};
    Text out = {0};
    while (*text) {
        int k = 0;
        while (k < 2 && strncmp(text, sides[k], strlen(sides[k])) != 0)
            k++;
        text_put(&out, k < 2 ? kind->fields[k] : text, k < 2 ? strlen(kind->fields[k]) : 1);
        text += k < 2 ? strlen(sides[k]) : 1;
    }
    return text_keep(arena, &out);
}

/* What is found of a table's pairs speaks of its fields. */
static void name_fields(Arena *arena, Survey *found, const ProjectKindInfo *kind)
{
    found->unit = "record";
    found->ratio = 0;
    for (int k = 0; k < found->n_columns; k++)
        found->columns[k].name = kind->fields[k];
    for (int k = 0; k < SURVEY_KINDS; k++) {
        SurveyFinding *finding = &found->findings[k];
        finding->title = with_fields(arena, finding->title, kind);
        if (finding->advice)
            finding->advice = with_fields(arena, finding->advice, kind);
    }
}

/* Warns of what is suspicious about pairs. Which fields are read, of a table; else NULL. */
static const char *look_at_pairs(Job *job, const TextFiles *files)
{
    PairFields fields = {.is_table = false};
    text_files_look(job, files, "", TEXTS_PAIRS | TEXTS_DATA | TEXTS_HEADED);
    return files->data.count &&
                   pair_file_is_table(job, files->data.data[0], &files->columns, &fields)
               ? arena_printf(job->arena, "source is field %s, target is field %s",
                              fields.fields[0], fields.fields[1])
               : NULL;
}

static int create(Job *job, const Init *command, const char *folder, ProjectKind kind,
                  const TextFiles *data)
{
    Survey found;
    Project project = {0};
    const char *fields = NULL;
    const ProjectKindInfo *info = project_kind(kind);
    ProjectOptions o = {.folder = folder,
                        .kind = kind,
                        .data = {.train = {.files = *data},
                                 .languages = command->languages,
                                 .examples = EXAMPLES,
                                 .line_limit = command->common.line_limit},
                        .minutes = command->minutes,
                        .processors = team_default()};
    if (info->form == PROJECT_PAIRS)
        fields = look_at_pairs(job, &o.data.train.files);
    bool ok = !job->diags.errors;
    ok = ok && (!project_is_table(info) ||
                project_read_table(job, info, &command->columns, command->common.line_limit,
                                   &o.data.train, &fields));
    ok = ok && survey(job, &o.data, NULL, &found);
    cli_flush(job);
    if (ok && (info->form == PROJECT_LABELS || info->form == PROJECT_TAGS))
        drop_translation_findings(&found);
    if (ok && project_is_table(info))
        name_fields(job->arena, &found, info);
    if (ok) {
        Text out = {0};
        survey_print(&found, &out);
        fwrite(out.data, 1, out.length, stdout);
        fflush(stdout); /* before messages */
        text_free(&out);
        ok = project_create(job, &o, &found, &project);
    }
    if (ok)
        print_project(job, command, folder, &o, &project, fields);
    return cli_finish(job, ok);
}

static int run_init(Job *job, void *record, const Arguments *arguments)
{
    const Init *command = record;
    const char *folder = arguments->words[0];
    TextFiles data = command->data;
    if (!project_check_folder(job, folder))
        return cli_finish(job, false);
    ProjectKind kind = find_kind(job, command);
    if (kind == PROJECT_KINDS)
        return EXIT_USAGE;
    const ProjectKindInfo *info = project_kind(kind);
    if (!text_files_given(&data) && can_ask() && !ask_data(job, info, &data))
        return EXIT_USAGE;
    if (info->form == PROJECT_PAIRS &&
        !pair_columns_of(job, NULL, NULL, &command->columns, &data.columns))
        return cli_finish(job, false);
    int status = check_data(job, &data, command, info);
    return status ? status : create(job, command, folder, kind, &data);
}

static const Option options[] = {
    {"kind", "KIND", FIELD(Init, kind), 0, NULL,
     "make a translator, pronouncer, language-model, classifier, tagger or embedder"},
    {"source", "FILE", FIELD(Init, data.source), 0, NULL,
     "sources of a translator or pronouncer, one a line, such as sentences or words"},
    {"target", "FILE", FIELD(Init, data.target), 0, NULL,
     "targets of a translator or pronouncer, with as many lines as the sources"},
    {"data", "FILE", FIELD(Init, data.data), 0, NULL,
     "a table by its ending:" TABLE_ENDINGS_TEXT ", also "
     "compressed. A translator and a pronouncer read source and target, a classifier text and "
     "label, a tagger words and tags, an embedder first and second; without a header with these "
     "names the first two fields, of CoNLL's columns the first and the last. Or a translation "
     "memory, FILE.tmx"},
    {"column", "NAME=FIELD", FIELD(Init, columns), 0, NULL,
     "the field of the table, or its number, that is source, target, text, label, words, tags, "
     "first or second"},
    {"languages", "A,B", FIELD(Init, languages), 0, NULL,
     "languages of sources and targets in a translation memory, such as en,de"},
    {"text", "FILE", FIELD(Init, data.text), 0, NULL, "text of a language model"},
    {"minutes", "M", FIELD(Init, minutes), 0, "15",
     "minutes of training in the commands of README.md"},
    OPTION_LINE_LIMIT(Init),
};

const Command command_init = {
    .name = "init",
    .summary = "begin a project: a model, its data in three parts, the commands to run next",
    .arguments = "FOLDER",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Makes a folder with a model sized for the data and this machine, the data cut into "
        "training, validation and test, and a README.md with the commands to train, measure and "
        "use the model. On a terminal, asks for the kind and the files that no option names. "
        "Prints what tfc data finds in the data.",
    COMMAND_OPTIONS(Init, options),
    .run = run_init,
};
