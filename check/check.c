/* Which checks a model is put to, and the ways it is compiled for them. */
#include "check/check.h"

#include <string.h>

typedef struct Ways {
    Variant fused64, plain64, fused32, scalar32;
} Ways;

static bool open_ways(Check *check, Ways *w, const char *function)
{
    const VariantOptions fused64 = {function, DT_F64, 2, false, !function},
                         plain64 = {function, DT_F64, 0, false, 0},
                         fused32 = {function, DT_F32, 2, false, 0},
                         scalar32 = {function, DT_F32, 2, true, 0};
    bool ok = variant_open(check, &w->fused64, &fused64);
    ok = variant_open(check, &w->plain64, &plain64) && ok;
    ok = variant_open(check, &w->fused32, &fused32) && ok;
    return variant_open(check, &w->scalar32, &scalar32) && ok;
}

static void close_ways(Ways *w)
{
    variant_close(&w->fused64);
    variant_close(&w->plain64);
    variant_close(&w->fused32);
    variant_close(&w->scalar32);
}

/* ---- gradients ---- */

static bool check_derivatives(Check *check, Variant *v)
{
    return check_gradients(check, v) && check_slopes(check, v);
}

static bool any_failed(const Check *check, size_t from)
{
    bool failed = false;
    for (size_t i = from; i < check->rows.count; i++)
        failed |= check->rows.data[i].result == CHECK_FAILED;
    return failed;
}

/* What stop() gives may put the model on kinks wherever its params are, as a scale of 8 bits puts
 * the greatest value of each row on the bound of a clamp. A gradient takes such values as given, so
 * others serve as well: where the first ones disagree, an eighth below them is tried, which is a
 * level off the bound at 4 bits, too. */
static bool check_gradient_rows(Check *check, Variant *f64)
{
    enum { MOST_ROWS = 2 };
    const VariantOptions aside = {NULL, DT_F64, 2, false, 7 / 8.};
    const size_t from = check->rows.count;
    CheckRow first[MOST_ROWS];
    if (!check_derivatives(check, f64))
        return false;
    if (!any_failed(check, from) || !*held_text(check, f64))
        return true;
    memcpy(first, check->rows.data + from, sizeof first);
    check->rows.count = from;
    Variant v;
    bool ok = variant_open(check, &v, &aside) && check_derivatives(check, &v);
    variant_close(&v);
    if (ok && any_failed(check, from))
        memcpy(check->rows.data + from, first, sizeof first);
    return ok;
}

/* ---- all ---- */

static bool check_ways(Check *check, Ways *w, bool has_loss)
{
    const double near64 = 1e-9, near32 = 1e-4;
    if (has_loss && !check_choose_batch(check, &w->fused64))
        return false;
    if (!check->usual) {
        check_row(check, "a loss that is a number", CHECK_FAILED,
                  arena_printf(check->job->arena,
                               "%s; tfc train --check-numerics names the operation",
                               check->passed_over + strlen("; ")));
        return true;
    }
    bool ok = !has_loss || check_gradient_rows(check, &w->fused64);
    ok = ok && check_meaning(check, "fused = interpreted (f64)", &w->fused64, near64);
    ok = ok && check_meaning(check, "unfused = interpreted (f64)", &w->plain64, near64);
    ok = ok && check_meaning(check, "fused = interpreted (f32)", &w->fused32, near32);
    ok = ok && check_same(check, "fused = unfused (f64)", &w->fused64, &w->plain64, near64);
    ok = ok &&
         check_same(check, "kernels = scalar reference (f32)", &w->fused32, &w->scalar32, near32);
    ok = ok && (!has_loss || check_threads(check));
    return ok && check_decoding(check);
}

bool check_model(Check *check)
{
    SessionOptions options = session_defaults(check->path);
    options.library = check->library;
    options.reach = check->reach;
    options.settings = check->settings;
    Session session;
    if (!session_open(&session, check->job, &options))
        return false;
    bool has_loss = session.model->has_loss;
    session_close(&session);
    check->usual = has_loss ? NULL : &check_batches[0];
    check->passed_over = "";
    Ways ways;
    /* NULL: the gradient in training */
    bool ok =
        open_ways(check, &ways, has_loss ? NULL : "forward") && check_ways(check, &ways, has_loss);
    close_ways(&ways);
    return ok;
}
