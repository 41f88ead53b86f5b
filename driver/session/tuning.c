/* The choice between OpenBLAS and native products: kept, compared, put into words. */
#include "driver/session/tuning.h"

#include "codegen/cache.h"
#include "codegen/codegen.h"
#include "runtime/blas/openblas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLAS_NAME = 96 };
#define CLEARLY 1.05

TfcChoice tuning_choose(TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES])
{
    TfcChoice choice = {{0}};
    for (int t = 0; t < TFC_BLAS_TYPES; t++)
        for (int c = 0; c < SHAPE_CLASSES; c++)
            choice.blas[t] |= (int64_t)(rates[t][c].blas > CLEARLY * rates[t][c].native) << c;
    return choice;
}

/* ---- OpenBLAS's name ---- */

static const char *name_blas(const void *context, Arena *arena, Diagnostics *diags)
{
    char name[BLAS_NAME];
    if (!openblas_load(diags))
        return NULL;
    tfc_blas_name(name, sizeof name);
    return arena_strdup(arena, name);
}

const char *tuning_blas(Arena *arena, Diagnostics *diags)
{
    if (access(openblas_path, R_OK)) /* which it is, is known once it is loaded */
        return name_blas(NULL, arena, diags);
    const char *core = getenv("OPENBLAS_CORETYPE");
    ProgramKey key =
        key_of_text(arena_printf(arena, "OpenBLAS's name %s", core ? core : ""), openblas_path);
    return cache_made_text(&key, name_blas, NULL, arena, diags);
}

/* ---- as it is kept ---- */

void tuning_write(TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES], Text *out)
{
    for (int t = 0; t < TFC_BLAS_TYPES; t++)
        for (int c = 0; c < SHAPE_CLASSES; c++) {
            text_add(out, "%d %d ", t, c);
            text_number(out, rates[t][c].native);
            text_string(out, " ");
            text_number(out, rates[t][c].blas);
            text_string(out, "\n");
        }
}

bool tuning_read(const char *text, TuningRate rates[TFC_BLAS_TYPES][SHAPE_CLASSES])
{
    for (int t = 0; t < TFC_BLAS_TYPES; t++)
        for (int c = 0; c < SHAPE_CLASSES; c++) {
            TuningRate *rate = &rates[t][c];
            int type, class, length = 0;
            if (sscanf(text, "%d %d %lf %lf%n", &type, &class, &rate->native, &rate->blas,
                       &length) != 4 ||
                type != t || class != c || !(rate->native >= 0) || !(rate->blas >= 0) ||
                text[length] != '\n')
                return false;
            text += length + 1;
        }
    return !*text;
}

static bool recall(Cache *cache, const ProgramKey *key, Arena *arena, Tuning *tuning)
{
    const char *text = cache_get_text(cache, key, arena);
    tuning->kept = text && tuning_read(text, tuning->rates);
    return tuning->kept;
}

/* Measures, unless another process has meanwhile. */
static bool measure_and_keep(Job *job, Cache *cache, const ProgramKey *key, bool renew,
                             Tuning *tuning)
{
    bool ok = true;
    cache_lock(cache);
    if (renew || !recall(cache, key, job->arena, tuning)) {
        Text text = {0};
        ok = tuning_measure(job, tuning->rates);
        tuning_write(tuning->rates, &text);
        if (ok)
            cache_put_text(cache, key, text.data);
        const char *kept = ok ? cache_get_text(cache, key, job->arena) : NULL;
        tuning->kept = kept && !strcmp(kept, text.data);
        tuning->note = cache_note(cache);
        text_free(&text);
    }
    cache_unlock(cache);
    return ok;
}

static bool find_tuning(Job *job, Cache *cache, TuningUse use, Tuning *tuning)
{
    const TargetOptions target = {.cpu = job->cpu, .opt_level = 2};
    tuning->processor = codegen_processor(&target, job->arena, &job->diags);
    tuning->blas = tuning->processor ? tuning_blas(job->arena, &job->diags) : NULL;
    if (!tuning->blas)
        return false;
    if (tuning->note)
        return tuning_measure(job, tuning->rates);
    ProgramKey key = key_of_text(
        arena_printf(job->arena, "products of %s, OpenBLAS %s", tuning->processor, tuning->blas),
        NULL);
    if (use != TUNING_RENEWED && recall(cache, &key, job->arena, tuning))
        return true;
    return use == TUNING_KEPT || measure_and_keep(job, cache, &key, use == TUNING_RENEWED, tuning);
}

bool tuning_find(Job *job, TuningUse use, Tuning *tuning)
{
    Cache *cache = cache_open(job->arena, NULL, CACHE_BYTES);
    *tuning = (Tuning){.note = cache ? cache_note(cache) : "TFC_CACHE is off"};
    bool is_shown = use == TUNING_SHOWN || use == TUNING_RENEWED;
    bool ok = (tuning->note && !is_shown) || find_tuning(job, cache, use, tuning);
    cache_close(cache);
    if (tuning->kept)
        tuning->choice = tuning_choose(tuning->rates);
    return ok;
}

/* ---- in words ---- */

static bool is_native(const TfcChoice *choice)
{
    for (int t = 0; t < TFC_BLAS_TYPES; t++)
        if (choice->blas[t])
            return false;
    return true;
}

const char *tuning_text(Arena *arena, const char *gemm, const TfcChoice *choice)
{
    bool all = gemm && !strcmp(gemm, "blas");
    if (!all && (is_native(choice) || (gemm && !strcmp(gemm, "native"))))
        return "native";
    Diagnostics ignored; /* a program with OpenBLAS's products tells why it cannot be loaded */
    diag_init(&ignored, arena);
    const char *blas = tuning_blas(arena, &ignored);
    if (!blas)
        blas = "?";
    if (all)
        return arena_printf(arena, "OpenBLAS %s", blas);
    return arena_printf(arena,
                        "native, and OpenBLAS %s for shapes %" PRIx64 " of f32, %" PRIx64 " of f64",
                        blas, (uint64_t)choice->blas[TFC_F32], (uint64_t)choice->blas[TFC_F64]);
}

bool tuning_from_text(const char *text, TfcChoice *choice)
{
    uint64_t f32 = 0, f64 = 0;
    *choice = (TfcChoice){{0}};
    if (!strcmp(text, "native"))
        return true;
    if (sscanf(text, "native, and OpenBLAS %*s %*s for shapes %" SCNx64 " of f32, %" SCNx64, &f32,
               &f64) != 2)
        return false;
    choice->blas[TFC_F32] = (int64_t)f32;
    choice->blas[TFC_F64] = (int64_t)f64;
    Arena *arena = arena_new();
    bool same = !strcmp(text, tuning_text(arena, NULL, choice));
    arena_free(arena);
    return same && f32 >> SHAPE_CLASSES == 0 && f64 >> SHAPE_CLASSES == 0;
}
