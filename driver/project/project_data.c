/* A project's data: the user's text or table cut into what trains, validates and tests. */
#include "base/file.h"
#include "base/map.h"
#include "driver/corpus/survey/digest.h"
#include "driver/corpus/survey/raw_text.h"
#include "driver/project/project.h"

#include <inttypes.h>
#include <string.h>

enum {
    LEAST_LINES = 100,
    MOST_MISREAD = 1,  /* percent of lines: with more, the whole text has another encoding */
    HELD_SHARE = 20,   /* every 20th line validates, and as many test … */
    HELD_LINES = 1000, /* … but about a thousand of each */
    MOST_LABELS = 1000,
    MOST_SHARED = 20 /* percent of the pairs to train on that are left out for their targets */
};

typedef enum DataPart { TRAIN, VALID, TEST, PARTS } DataPart;
static const char *const part_names[] = {"train", "valid", "test"};

typedef struct Cut {
    Job *job;
    const ProjectOptions *options;
    const ProjectKindInfo *kind;
    bool is_pairs;
    const char *folder;
    FileWriter *files[PARTS][2];
    int64_t lines[PARTS];
    int64_t left_out, every; /* of `every` different sources one validates, and one tests */
    Digest digest;
    LineHashes sources; /* seen; a source's number tells its part */
    LineHashes labels;  /* that are trained on */
    LineHashes held;    /* targets of pairs that validate or test */
    int64_t shared;     /* pairs to train on with such a target */
    bool keeps;         /* they train, because they are too many to leave out */
} Cut;

static bool is_text(const Cut *cut) { return !cut->is_pairs; }

/* How many files a part has: a text, a table, or two sides. */
static int files_of_part(const Cut *cut)
{
    return cut->is_pairs && !project_is_table(cut->kind) ? 2 : 1;
}

static bool open_files(Cut *cut)
{
    static const char *const ends[] = {"source", "target"};
    const bool table = project_is_table(cut->kind);
    for (DataPart part = 0; part < PARTS; part++)
        for (int k = 0; k < files_of_part(cut); k++) {
            const char *path =
                arena_printf(cut->job->arena, "%s/%s.%s", cut->folder, part_names[part],
                             table          ? "tsv"
                             : is_text(cut) ? "txt"
                                            : ends[k]);
            cut->files[part][k] = file_create(&cut->job->diags, path);
            if (!cut->files[part][k])
                return false;
        }
    return true;
}

/* The names of a table's fields. */
static void write_headers(Cut *cut)
{
    for (DataPart part = 0; part < PARTS && project_is_table(cut->kind); part++) {
        const char *header =
            arena_printf(cut->job->arena, "%s\t%s\n", cut->kind->fields[0], cut->kind->fields[1]);
        file_write(cut->files[part][0], header, strlen(header));
    }
}

static bool close_files(Cut *cut, bool ok)
{
    for (DataPart part = 0; part < PARTS; part++)
        for (int k = 0; k < 2; k++) {
            FileWriter *file = cut->files[part][k];
            if (file && ok)
                ok = file_commit(file, &cut->job->diags);
            else if (file)
                file_discard(file);
        }
    return ok;
}

/* Whether training takes the line; a pair with an empty side teaches nothing. */
static bool is_usable(const Cut *cut, const RawPair *pair)
{
    bool ok = pair->has_tab;
    const int64_t limit = line_limit_of(cut->options->data.line_limit);
    for (int k = 0; ok && k < 1 + cut->is_pairs; k++) {
        const RawLine *side = &pair->sides[k];
        int column;
        ok = !side->is_cut && !line_fault(cut->job->arena, &side->line, limit, &column);
        if (ok && cut->is_pairs) {
            size_t blanks = 0;
            while (blanks < side->line.length &&
                   (side->line.text[blanks] == ' ' || side->line.text[blanks] == '\t'))
                blanks++;
            ok = blanks < side->line.length;
        }
    }
    return ok;
}

/* ---- labels ---- */

/* Calls `act` with the hash of each label of a row: the whole second field, or each of its words.
 * True once it is true of one. */
static bool any_label(Cut *cut, const Line *cell, bool act(Cut *cut, uint64_t hash))
{
    size_t at = 0;
    while (at < cell->length) {
        const char *blank = cut->kind->form == PROJECT_TAGS
                                ? memchr(cell->text + at, ' ', cell->length - at)
                                : NULL;
        const size_t end = blank ? (size_t)(blank - cell->text) : cell->length;
        if (end > at && act(cut, hash_bytes(HASH_SEED, cell->text + at, end - at)))
            return true;
        at = end + 1;
    }
    return false;
}

static bool is_new_label(Cut *cut, uint64_t hash)
{
    return !line_hashes_find(&cut->labels, hash, false);
}

static bool add_trained_label(Cut *cut, uint64_t hash)
{
    line_hashes_add(&cut->labels, hash, 1);
    return false;
}

static bool has_labels(const Cut *cut)
{
    return cut->kind->form == PROJECT_LABELS || cut->kind->form == PROJECT_TAGS;
}

/* Training does not know labels that only validation or test has: a row with the first of a label
 * trains, if its source can still be in any part. False: it cannot, and the row is in none. */
static bool keep_labels_trained(Cut *cut, const RawPair *pair)
{
    const Line *label = &pair->sides[1].line;
    if (!has_labels(cut) || !any_label(cut, label, is_new_label))
        return true;
    digest_line(&cut->digest, &pair->sides[0].line);
    const int64_t seen = line_hashes_add(&cut->sources, cut->digest.hash, cut->every);
    if (seen % cut->every == 1 || seen % cut->every == 2)
        return false;
    any_label(cut, label, add_trained_label);
    return true;
}

/* ---- parts ---- */

/* A source's part; one that was there before, in other case perhaps, stays in its part: so nothing
 * that is tested was trained on. */
static DataPart part_of_source(Cut *cut, const Line *source)
{
    digest_line(&cut->digest, source);
    int64_t next = (int64_t)cut->sources.count + 1,
            seen = line_hashes_add(&cut->sources, cut->digest.hash, next);
    switch ((seen ? seen : next) % cut->every) {
    case 1: return VALID;
    case 2: return TEST;
    default: return TRAIN;
    }
}

/* Of a text the last parts are held out. */
static DataPart part_of_line(int64_t number, int64_t lines)
{
    int64_t held = lines / HELD_SHARE;
    return number > lines - held ? TEST : number > lines - 2 * held ? VALID : TRAIN;
}

/* Translations of one sentence are often the same: a target that is tested must not have been
 * trained on either. Labels are few, and the same everywhere. */
static bool holds_targets(const Cut *cut)
{
    return cut->kind->form == PROJECT_PAIRS || cut->kind->form == PROJECT_PARTNERS;
}

static uint64_t hash_of_target(Cut *cut, const RawPair *pair)
{
    digest_line(&cut->digest, &pair->sides[1].line);
    return cut->digest.hash;
}

/* Two readings before the parts are written: which targets are held out, and how many other pairs
 * have them. */
static bool hold_targets(Cut *cut, RawText *raw)
{
    RawPair pair;
    int64_t train = 0;
    for (int reading = 0; reading < 2; reading++) {
        while (raw_next(raw, &pair)) {
            if (!is_usable(cut, &pair))
                continue;
            DataPart part = part_of_source(cut, &pair.sides[0].line);
            uint64_t target = hash_of_target(cut, &pair);
            if (!reading && part != TRAIN)
                line_hashes_add(&cut->held, target, 1);
            else if (reading && part == TRAIN) {
                train++;
                cut->shared += line_hashes_find(&cut->held, target, false) != 0;
            }
        }
        if (cut->job->diags.errors || !raw_rewind(raw))
            return false;
    }
    cut->keeps = cut->shared * 100 > train * MOST_SHARED;
    return true;
}

static void write_row(Cut *cut, DataPart part, const RawPair *pair)
{
    const bool table = project_is_table(cut->kind);
    for (int k = 0; k < 1 + cut->is_pairs; k++) {
        FileWriter *file = cut->files[part][table ? 0 : k];
        const Line *line = &pair->sides[k].line;
        file_write(file, line->text, line->length);
        file_write(file, table && !k ? "\t" : "\n", 1);
    }
    cut->lines[part]++;
}

static bool check_labels(const Cut *cut, int64_t lines)
{
    const int64_t labels = (int64_t)cut->labels.count;
    const bool tags = cut->kind->form == PROJECT_TAGS;
    const char *field = cut->kind->fields[1];
    if (labels < 2)
        return job_error(cut->job, "all %s have the same %s: there is nothing to tell apart",
                         tags ? "words" : "lines", tags ? "tag" : "label");
    if (labels > MOST_LABELS || (!tags && labels * 2 > lines))
        return job_error(cut->job,
                         "%" PRId64 " different %s for %" PRId64
                         " lines: is that field the %s? Each of them comes often; "
                         "--column %s=FIELD chooses another",
                         labels, tags ? "tags" : "labels", lines, field, field);
    return true;
}

static bool check_parts(const Cut *cut)
{
    const int64_t lines = cut->lines[TRAIN] + cut->lines[VALID] + cut->lines[TEST];
    if (lines >= LEAST_LINES && has_labels(cut) && !check_labels(cut, lines))
        return false;
    if (lines >= LEAST_LINES && (!cut->lines[VALID] || !cut->lines[TEST]))
        return job_error(cut->job,
                         "%" PRId64 " %s have too few different %s to keep some of them for "
                         "validation and a test",
                         lines, is_text(cut) ? "lines" : "pairs",
                         is_text(cut)      ? "ones"
                         : has_labels(cut) ? "texts"
                                           : "sources");
    if (lines < LEAST_LINES)
        return job_error(cut->job,
                         "%" PRId64
                         " %s are too few to learn from: at least %d different ones are needed",
                         lines, is_text(cut) ? "lines" : "pairs", LEAST_LINES);
    return true;
}

/* Left out, the lines of a text in another encoding would be all those with an umlaut. */
static bool check_encoding(Job *job, const Survey *survey)
{
    int64_t misread = survey->findings[SURVEY_not_utf8].lines;
    return misread * 100 <= survey->lines * MOST_MISREAD ||
           job_error(job,
                     "%" PRId64 " of %" PRId64
                     " lines are not UTF-8: convert the text from its encoding first "
                     "(if it is Latin-1: iconv -f CP1252 -t UTF-8)",
                     misread, survey->lines);
}

/* Lines that are one text each are no pairs. */
static bool check_tabs(Job *job, const ProjectOptions *o, const Survey *survey)
{
    const int64_t without = survey->findings[SURVEY_no_tab].lines;
    const TextList *data = &o->data.train.files.data;
    return !data->count || without * 2 <= survey->lines ||
           job_error(job,
                     "%s: %" PRId64 " of %" PRId64
                     " lines have no tab: --data takes a source, a tab and its target in each "
                     "line; texts in two files are given as --source and --target",
                     data->data[0], without, survey->lines);
}

const char *project_shared(Arena *arena, const ProjectKindInfo *kind, const ProjectParts *parts)
{
    const bool table = project_is_table(kind);
    const char *target = table ? "second text" : "target",
               *source = table ? "first text" : "source",
               *what = arena_printf(arena, "pair%s whose %s%s", text_plural(parts->shared, "", "s"),
                                    target, text_plural(parts->shared, " is", "s are"));
    return !parts->shared
               ? arena_printf(arena, "No %s that is validated or tested on is trained on.", target)
           : parts->kept
               ? arena_printf(
                     arena,
                     "%" PRId64
                     " %s also validated or tested on, with other %ss, stay%s in training: "
                     "they are over %d %% of it.",
                     parts->shared, what, source, text_plural(parts->shared, "s", ""), MOST_SHARED)
               : arena_printf(
                     arena,
                     "%" PRId64 " %s also validated or tested on, with other %ss, %s left out of "
                     "training.",
                     parts->shared, what, source, text_plural(parts->shared, "was", "were"));
}

bool project_cut_data(Job *job, const ProjectOptions *options, const Survey *survey,
                      const char *folder, ProjectParts *parts)
{
    int64_t thousandth = survey->lines / HELD_LINES;
    Cut cut = {.job = job,
               .options = options,
               .kind = project_kind(options->kind),
               .is_pairs = survey->data == OF_PAIRS,
               .folder = folder,
               .every = thousandth > HELD_SHARE ? thousandth : HELD_SHARE};
    RawText raw = {0};
    RawPair pair;
    bool ok = check_encoding(job, survey) && check_tabs(job, options, survey) &&
              raw_open(job, &options->data.train, &options->data, &raw) &&
              (!holds_targets(&cut) || hold_targets(&cut, &raw)) && open_files(&cut);
    if (ok)
        write_headers(&cut);
    while (ok && raw_next(&raw, &pair)) {
        if (!is_usable(&cut, &pair) || !keep_labels_trained(&cut, &pair)) {
            cut.left_out++;
            continue;
        }
        DataPart part = cut.is_pairs ? part_of_source(&cut, &pair.sides[0].line)
                                     : part_of_line(pair.number, survey->lines);
        bool held = part == TRAIN && holds_targets(&cut) && !cut.keeps &&
                    line_hashes_find(&cut.held, hash_of_target(&cut, &pair), false);
        if (!held)
            write_row(&cut, part, &pair);
    }
    ok = ok && !job->diags.errors && check_parts(&cut);
    *parts = (ProjectParts){.train = cut.lines[TRAIN],
                            .valid = cut.lines[VALID],
                            .test = cut.lines[TEST],
                            .left_out = cut.left_out,
                            .shared = cut.shared,
                            .kept = cut.keeps,
                            .labels = (int64_t)cut.labels.count};
    ok = close_files(&cut, ok);
    raw_close(&raw);
    digest_free(&cut.digest);
    line_hashes_free(&cut.sources);
    line_hashes_free(&cut.labels);
    line_hashes_free(&cut.held);
    return ok;
}
