/* Drives the searches of a batch: feeds prompts, gathers what is to be fed next, steps the
 * model, lets each search choose. Finished sentences leave the batch. Tokens that are known
 * before, of prompts and prefixes, are fed many at a time. */
#include "runtime/decode/decode.h"

#include "base/team.h"
#include "runtime/decode/search.h"
#include "runtime/exec/exec.h"

#include <assert.h>
#include <math.h>

DecodeSettings decode_defaults(void)
{
    return (DecodeSettings){
#define SETTING(kind, name, initial, ...) .name = initial,
#define TOKEN(name, ...) .name = -1,
#include "runtime/decode/settings.def"
        .forbidden = {-1, -1, -1, -1}, .until_eos = true};
}

void decode_set_defaults(DecodeSettings *settings, const DecodeDefault *defaults, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        switch (setting_default_row(defaults[i].name)) {
#define SEARCH(kind, name, ...) \
    case SETTING_##name: settings->name = (SETTING_TYPE_##kind)defaults[i].value; break;
#define ANY SEARCH
#include "runtime/decode/settings.def"
        default: break;
        }
}

Tokens hypothesis_text(const Hypothesis *hypothesis, int32_t first)
{
    bool begins = first >= 0 && hypothesis->n > 0 && hypothesis->ids[0] == first;
    return (Tokens){hypothesis->ids + begins, hypothesis->n - begins};
}

bool decoded_has_numbers(const Decoded *decoded)
{
    bool has = decoded->n > 0;
    for (int32_t i = 0; has && i < decoded->n; i++)
        has = !isnan(decoded->best[i].log_probability);
    return has;
}

int32_t decode_width(const DecodeSettings *settings)
{
    int32_t draws = settings->best_of > settings->nbest ? settings->best_of : settings->nbest;
    return settings->sample ? draws : settings->beam;
}

static int32_t longest_result(const DecodeSettings *settings, const Sources *sources,
                              int32_t sentence)
{
    const int32_t length = sources ? sources_longest(sources, sentence) : 0;
    double longest = settings->length_factor * length + settings->length_extra;
    if (settings->length_limit > 0 && longest > settings->length_limit)
        longest = settings->length_limit;
    return longest < INT32_MAX ? (int32_t)longest : INT32_MAX;
}

/* One row of the batch being fed. */
typedef struct FedRow {
    Search *search;
    int32_t live;
    int32_t end; /* of its tokens among all that are fed */
} FedRow;

typedef struct Driver {
    Stepper *stepper;
    const DecodeSettings *settings;
    Search *searches;
    int32_t n, width, stride; /* n: searches */
    int32_t each;             /* searches of a sentence, side by side */
    bool has_sources;
    FedRow *rows;
    int32_t n_rows;
    int32_t *sentence, *slot, *fed; /* a row; fed: how many tokens */
    int32_t *tokens, *counts;
    Candidate *candidates, *scratch; /* n_rows × stride; one row of the vocabulary a thread */
    float *changed;     /* behind the candidates, where rules change logits: n_rows × vocab */
    const uint8_t *may; /* [sentences, vocab]; NULL: a sentence may use all tokens */
    float *masked;      /* behind these, with `may`: n_rows × vocab */
} Driver;

static bool make_driver(Driver *driver, Arena *arena)
{
    size_t rows = (size_t)driver->n * (size_t)driver->width;
    driver->rows = ARENA_ARRAY(arena, FedRow, rows);
    driver->sentence = ARENA_ARRAY(arena, int32_t, rows);
    driver->slot = ARENA_ARRAY(arena, int32_t, rows);
    driver->fed = ARENA_ARRAY(arena, int32_t, rows);
    driver->tokens = ARENA_ARRAY(arena, int32_t, rows + (size_t)driver->stepper->most_fed);
    driver->counts = ARENA_ARRAY(arena, int32_t, rows);
    size_t stride = (size_t)driver->stride;
    size_t vocab = (size_t)driver->stepper->vocab;
    size_t changes = search_changes(driver->settings), masks = driver->may != NULL;
    driver->candidates = arena_array(
        arena, rows, sizeof(Candidate) * stride + sizeof(float) * vocab * (changes + masks));
    float *logits = driver->candidates ? (float *)(driver->candidates + rows * stride) : NULL;
    driver->changed = changes ? logits : NULL;
    driver->masked = masks && logits ? logits + rows * vocab * changes : NULL;
    if (driver->settings->sample)
        driver->scratch = ARENA_ARRAY(arena, Candidate, (size_t)driver->stepper->vocab);
    return !arena_failed(arena);
}

/* Gathers tokens whose logits nobody reads, of the first searches: at most `most` each, as many in
 * all as the stepper takes at once. A text is cut at its own multiples of that, so that what it
 * gives does not depend on the others; one whose piece finds no room waits. */
static void gather_unread(Driver *driver, int32_t n_searches, int32_t most)
{
    const int32_t most_fed = driver->stepper->most_fed;
    int32_t n_tokens = 0;
    driver->n_rows = 0;
    for (int32_t i = 0; i < n_searches && n_tokens < most_fed; i++) {
        Search *search = &driver->searches[i];
        const int32_t piece = most_fed - search_read(search) % most_fed,
                      unread = search_unread(search), wanted = unread < most ? unread : most,
                      n = wanted < piece ? wanted : piece, row = driver->n_rows;
        if (!n || n > most_fed - n_tokens)
            continue;
        driver->sentence[row] = i / driver->each;
        driver->slot[row] = search->live[0].slot;
        driver->fed[row] = n;
        driver->n_rows++;
        for (int32_t k = 0; k < n; k++)
            driver->tokens[n_tokens++] = search_unread_token(search, k);
        search_fed(search, n);
    }
}

static bool feed_rows(Driver *driver)
{
    return driver->stepper->feed(driver->stepper->self, driver->n_rows, driver->sentence,
                                 driver->slot, driver->fed, driver->tokens);
}

/* How many tokens all searches begin with; 0 if sentences have sources, because slots then
 * differ. */
static int32_t count_shared(const Driver *driver)
{
    const Search *first = &driver->searches[0];
    int32_t n = driver->has_sources || driver->n < 2 ? 0 : search_unread(first);
    for (int32_t i = 1; i < driver->n && n; i++) {
        int32_t k = 0, unread = search_unread(&driver->searches[i]);
        while (k < n && k < unread &&
               search_unread_token(&driver->searches[i], k) == search_unread_token(first, k))
            k++;
        n = k;
    }
    return n;
}

/* A beginning that is worth a step of its own. */
enum { LEAST_SHARED = 16 };

/* What all prompts begin with is fed once, and copied: whole pieces, if it matters where a text is
 * cut. */
static bool feed_shared(Driver *driver)
{
    const int32_t all = count_shared(driver),
                  shared = driver->stepper->many ? all - all % driver->stepper->most_fed : all;
    bool ok = true;
    if (shared < LEAST_SHARED)
        return true;
    for (int32_t left = shared; ok && left; left -= driver->fed[0]) {
        gather_unread(driver, 1, left);
        ok = feed_rows(driver);
    }
    for (int32_t i = 1; ok && i < driver->n; i++) {
        search_fed(&driver->searches[i], shared);
        driver->stepper->copy(driver->stepper->self, driver->searches[0].live[0].slot,
                              driver->searches[i].live[0].slot);
    }
    return ok;
}

static bool feed_unread(Driver *driver)
{
    bool ok = feed_shared(driver);
    while (ok) {
        gather_unread(driver, driver->n, INT32_MAX);
        if (!driver->n_rows)
            break;
        ok = feed_rows(driver);
    }
    return ok;
}

/* Gathers the next tokens of all hypotheses, with known tokens behind those of a search with one
 * hypothesis: as many as its own prefix has, at most as many as have room for logits. A search for
 * which no room is left waits. */
static void gather_rows(Driver *driver)
{
    const int32_t most = stepper_most_tokens(driver->stepper->vocab);
    int32_t n_tokens = 0, left = most;
    driver->n_rows = 0;
    for (int32_t i = 0; i < driver->n; i++) {
        Search *search = &driver->searches[i];
        const int32_t all = search->n_live == 1 ? search_known(search, driver->settings) : 0,
                      known = all < most ? all : most;
        if (known > left)
            continue;
        left -= known;
        for (int32_t live = 0; live < search->n_live; live++) {
            int32_t row = driver->n_rows++;
            driver->sentence[row] = i / driver->each;
            driver->slot[row] = search->live[live].slot;
            driver->tokens[n_tokens++] = search->live[live].token;
            for (int32_t k = 0; k < known; k++)
                driver->tokens[n_tokens++] = search_known_token(search, k);
            driver->fed[row] = 1 + known;
            driver->rows[row] = (FedRow){search, live, n_tokens};
        }
    }
}

/* What the search of a row makes of the logits behind a token of it. */
static void examine_token(Driver *driver, int32_t row, const float *logits, int32_t token)
{
    const int32_t vocab = driver->stepper->vocab;
    float *changed = driver->changed ? driver->changed + (int64_t)row * vocab : NULL;
    logits += (int64_t)token * vocab;
    if (driver->may) {
        const uint8_t *may = driver->may + (int64_t)driver->sentence[row] * vocab;
        float *masked = driver->masked + (int64_t)row * vocab;
        for (int32_t i = 0; i < vocab; i++)
            masked[i] = may[i] ? logits[i] : -INFINITY;
        logits = masked;
    }
    driver->counts[row] = search_examine(
        driver->rows[row].search, driver->rows[row].live, driver->settings, logits, vocab, changed,
        driver->candidates + (int64_t)row * driver->stride, driver->scratch);
}

typedef struct Examination {
    Driver *driver;
    const float *logits;
    int32_t block; /* rows a task */
} Examination;

static void examine_block(const void *context, int64_t task)
{
    const Examination *e = context;
    Driver *driver = e->driver;
    int32_t begin = (int32_t)task * e->block;
    for (int32_t row = begin; row < begin + e->block && row < driver->n_rows; row++)
        examine_token(driver, row, e->logits, driver->rows[row].end - 1);
}

/* Logits a task: some ten microseconds. */
enum { LOGITS_A_TASK = 1 << 14 };

static void examine_rows(Driver *driver, const float *logits)
{
    int32_t vocab = driver->stepper->vocab;
    Examination e = {driver, logits, vocab < LOGITS_A_TASK ? LOGITS_A_TASK / (vocab + 1) + 1 : 1};
    /* Sampling shares one scratch row. */
    team_each(driver->settings->sample ? 1 : exec_threads(),
              (driver->n_rows + e.block - 1) / e.block, examine_block, &e);
}

/* Rows whose search is over leave. Every token of a row but its last is followed by one that was
 * known: the search chooses it, and has its probability. */
static bool choose_known(Driver *driver, const float *logits, Arena *arena)
{
    int32_t kept = 0;
    for (int32_t row = 0; row < driver->n_rows; row++) {
        Search *search = driver->rows[row].search;
        for (int32_t k = driver->fed[row]; k > 1 && search->n_live; k--) {
            SlotCopies none = {0};
            examine_token(driver, row, logits, driver->rows[row].end - k);
            search_choose(search, driver->settings,
                          driver->candidates + (int64_t)row * driver->stride, driver->counts + row,
                          driver->stride, arena, &none);
        }
        if (arena_failed(arena))
            return false;
        if (search->n_live)
            driver->rows[kept++] = driver->rows[row];
    }
    driver->n_rows = kept;
    return true;
}

static bool choose_decoded(Driver *driver, Arena *arena)
{
    SlotCopies copies = {0};
    for (int32_t row = 0; row < driver->n_rows;) {
        Search *search = driver->rows[row].search;
        int32_t n_live = search->n_live;
        search_choose(search, driver->settings, driver->candidates + (int64_t)row * driver->stride,
                      driver->counts + row, driver->stride, arena, &copies);
        row += n_live;
    }
    if (arena_failed(arena))
        return false;
    for (size_t i = 0; i < copies.count; i++)
        driver->stepper->copy(driver->stepper->self, copies.data[i].from, copies.data[i].to);
    return true;
}

/* How the results of a sentence begin; no ids where memory cannot be had. */
static Tokens forced_tokens(const DecodeSettings *settings, int32_t sentence, Arena *arena)
{
    Tokens prefix = settings->prefixes ? settings->prefixes[sentence] : (Tokens){0};
    if (settings->first < 0)
        return prefix;
    int32_t *ids = ARENA_ARRAY(arena, int32_t, (int64_t)prefix.n + 1);
    if (!ids)
        return (Tokens){0};
    ids[0] = settings->first;
    for (int32_t i = 0; i < prefix.n; i++)
        ids[i + 1] = prefix.ids[i];
    return (Tokens){ids, prefix.n + 1};
}

static bool start_searches(Driver *driver, const Sources *sources, const Tokens *prompts,
                           const int64_t *numbers, Arena *arena)
{
    driver->searches = ARENA_ARRAY(arena, Search, driver->n);
    for (int32_t i = 0; driver->searches && i < driver->n; i++) {
        Search *search = &driver->searches[i];
        int32_t sentence = i / driver->each;
        search->rank = driver->settings->alternatives > 0 ? i % driver->each : -1;
        search->width = driver->width;
        search->first_slot = i * driver->width;
        search->longest = driver->settings->limits
                              ? driver->settings->limits[sentence]
                              : longest_result(driver->settings, sources, sentence);
        search->number = numbers ? numbers[sentence] : sentence;
        if (prompts)
            search->prompt = prompts[sentence];
        search->prefix = forced_tokens(driver->settings, sentence, arena);
        search_start(search, driver->settings, arena);
    }
    return !arena_failed(arena);
}

/* All steps until no hypothesis is alive. */
static bool search_all(Driver *driver, Arena *arena)
{
    bool ok = true;
    for (gather_rows(driver); ok && driver->n_rows; gather_rows(driver)) {
        const float *logits =
            driver->stepper->step(driver->stepper->self, driver->n_rows, driver->sentence,
                                  driver->slot, driver->fed, driver->tokens);
        ok = logits && choose_known(driver, logits, arena);
        if (ok) {
            examine_rows(driver, logits);
            ok = choose_decoded(driver, arena);
        }
    }
    return ok;
}

/* Rows, slots and candidates of a row are counted in 32 bits. */
static bool can_count(const DecodeSettings *settings, int32_t n, int32_t each, int32_t width)
{
    bool ok = settings->beam <= INT32_MAX / 2;
    return ok && (int64_t)n * each <= INT32_MAX / width &&
           (int64_t)width * search_candidates(settings) <= INT32_MAX;
}

/* What the searches of a sentence have found. */
static bool take_results(const Driver *driver, Search *searches, Arena *arena, Decoded *out)
{
    int32_t n = 0;
    for (int32_t k = 0; k < driver->each; k++)
        n += search_count(&searches[k], driver->settings);
    *out = (Decoded){.best = ARENA_ARRAY(arena, Hypothesis, n)};
    bool ok = out->best != NULL;
    for (int32_t k = 0; ok && k < driver->each; k++)
        ok = search_results(&searches[k], driver->settings, arena, out);
    if (ok && out->n && out->best[0].is_stuck && driver->settings->n_stuck)
        ++*driver->settings->n_stuck;
    return ok;
}

bool decode_over(Stepper *stepper, const DecodeSettings *settings, const uint8_t *may,
                 const Sources *sources, const Tokens *prompts, const int64_t *numbers, int32_t n,
                 Arena *arena, Decoded *results)
{
    int32_t width = decode_width(settings);
    int32_t each = settings->alternatives > 0 ? settings->alternatives : 1;
    assert(width >= 1 && !(settings->alternatives && settings->sample));
    Arena *scratch = can_count(settings, n, each, width) ? arena_try_new() : NULL;
    if (!scratch)
        return false;
    Driver driver = {.stepper = stepper,
                     .settings = settings,
                     .n = n * each,
                     .each = each,
                     .has_sources = sources != NULL,
                     .width = width,
                     .may = may,
                     .stride = search_candidates(settings)};
    bool ok = start_searches(&driver, sources, prompts, numbers, scratch) &&
              make_driver(&driver, scratch) &&
              stepper->begin(stepper->self, sources, n * each * width) && feed_unread(&driver) &&
              search_all(&driver, scratch);
    for (int32_t i = 0; ok && i < n; i++)
        ok = take_results(&driver, &driver.searches[i * each], arena, &results[i]);
    arena_free(scratch);
    return ok;
}

bool decode_batch(Stepper *stepper, const DecodeSettings *settings, const Sources *sources,
                  const Tokens *prompts, const int64_t *numbers, int32_t n, Arena *arena,
                  Decoded *results)
{
    if (stepper->choose)
        return stepper->calls->decode(stepper, settings, sources, numbers, n, arena, results);
    return decode_over(stepper, settings, NULL, sources, prompts, numbers, n, arena, results);
}
