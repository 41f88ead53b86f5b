/* What ranks do for rank 0 after a step, until it says that this is all: they give it params to
 * validate, and write their parts of a checkpoint (split.h).
 *
 * A checkpoint: rank 0 creates the file beside and tells its name, by which the others open it.
 * Each sums the blocks of its part; rank 0 puts all sums into the header, whose length tells where
 * the data begin. Then each writes its own bytes and flushes them to the disk, and rank 0 renames.
 * In between all learn whether all could, so that none waits for one that cannot. */
#include "runtime/train/parallel/split.h"

#include "runtime/exec/trace.h"

#include <errno.h>
#include <string.h>

enum { ASK_END, ASK_PARAMS, ASK_SAVE };

static bool has_others(const Split *split) { return ranks_count(split->ranks) > 1; }

static bool is_first(const Split *split) { return !ranks_mine(split->ranks); }

static void ask(const Split *split, int64_t what)
{
    if (has_others(split))
        ranks_share(split->ranks, &what, sizeof what);
}

/* Whether all ranks say so. */
static bool all_well(const Split *split, bool here)
{
    double bad = !here;
    ranks_sum(split->ranks, &bad, 1);
    return bad == 0;
}

/* Rank 0's text, on every rank; the others' is not looked at. */
static const char *share_text(const Split *split, Arena *arena, const char *text)
{
    int64_t n = is_first(split) ? (int64_t)strlen(text) : 0;
    ranks_share(split->ranks, &n, sizeof n);
    char *all = ARENA_ARRAY(arena, char, n + 1);
    if (is_first(split))
        memcpy(all, text, (size_t)n);
    ranks_share(split->ranks, all, n);
    return all;
}

/* ---- the file ---- */

/* NULL after an error. `name`: empty where rank 0 could not create it, and has told. */
static FileWriter *served_file(Diagnostics *diags, const char *path, const char *name)
{
    FileWriter *file = *name ? file_join(path, name) : NULL;
    if (!file && *name)
        diag_error(
            diags, (Loc){0},
            "cannot write %s, which rank 0 has begun: %s; ranks write a checkpoint together, so -o has to "
            "be a folder on a disk that all machines have",
            path, errno == EEXIST ? "another file is there" : strerror(errno));
    return file;
}

/* No rank leaves, and ends the others, before rank 0 has removed the file. */
static void give_up(const Split *split, FileWriter *file)
{
    if (file)
        file_discard(file);
    all_well(split, false);
}

/* The file beside PATH, open on all ranks; NULL after an error of some rank. */
static FileWriter *open_file(const Split *split, Diagnostics *diags, Arena *arena, const char *path)
{
    /* of which the others have to know the name */
    FileWriter *file = is_first(split) ? file_create_own(diags, path) : NULL;
    const char *name = file ? file_temporary(file) : NULL;
    name = share_text(split, arena, name ? name : "");
    if (!is_first(split))
        file = served_file(diags, path, name);
    if (all_well(split, file != NULL))
        return file;
    give_up(split, file);
    return NULL;
}

/* What all have written is on the disk, and PATH. False after an error of some rank. */
static bool close_file(const Split *split, Diagnostics *diags, FileWriter *file)
{
    bool first = is_first(split), here = first ? file_sync(file) : file_commit(file, diags);
    if (all_well(split, here))
        return !first || file_commit(file, diags);
    if (first && !here)
        file_commit(file, diags); /* which tells why */
    give_up(split, first && here ? file : NULL);
    return false;
}

bool split_try(const Split *split, Diagnostics *diags, const char *path)
{
    if (!has_others(split))
        return true;
    Arena *arena = arena_new();
    path = share_text(split, arena, path);
    FileWriter *file = open_file(split, diags, arena, path);
    if (file)
        file_discard(file);
    arena_free(arena);
    return file != NULL;
}

/* ---- a checkpoint ---- */

/* All sums, at rank 0. */
static bool gather_sums(const Split *split, StWriter *writer, Arena *arena)
{
    int64_t n;
    const StSum *sums = st_sum(writer, &n);
    if (!is_first(split)) {
        ranks_send(split->ranks, &n, sizeof n, 0);
        ranks_send(split->ranks, sums, n * (int64_t)sizeof *sums, 0);
        return true;
    }
    bool ok = st_take_sums(writer, sums, n);
    for (int rank = 1; rank < ranks_count(split->ranks); rank++) {
        ranks_receive(split->ranks, &n, sizeof n, rank);
        StSum *theirs = ARENA_ARRAY(arena, StSum, n + 1);
        ranks_receive(split->ranks, theirs, n * (int64_t)sizeof *theirs, rank);
        ok &= st_take_sums(writer, theirs, n);
    }
    return ok;
}

/* Where the data begin, on all ranks; rank 0's writer has the header then. 0: it could not be
 * made. */
static uint64_t make_header(const Split *split, StWriter *writer, Arena *arena,
                            const TrainState *state)
{
    uint64_t data_at = 0;
    bool ok = gather_sums(split, writer, arena);
    if (ok && is_first(split))
        data_at = checkpoint_header(writer, arena, state);
    ranks_share(split->ranks, &data_at, sizeof data_at);
    return data_at;
}

/* On each rank; the state is rank 0's. False after an error of some rank. */
static bool save_together(const Split *split, Diagnostics *diags, Arena *arena, const char *path,
                          const TrainState *state)
{
    StWriter *writer =
        checkpoint_writer(diags, arena, path, split->store, split_checkpoint(split, arena));
    if (!all_well(split, writer != NULL))
        return false;
    FileWriter *file = open_file(split, diags, arena, path);
    if (!file)
        return false;
    uint64_t data_at = make_header(split, writer, arena, state);
    if (!data_at) {
        if (is_first(split))
            diag_errno(diags, "write", path, ENOMEM);
        give_up(split, file);
        return false;
    }
    st_put(writer, file, data_at);
    return close_file(split, diags, file);
}

bool split_save(const Split *split, Diagnostics *diags, const char *path, const TrainState *state)
{
    Arena *arena = arena_new();
    ask(split, ASK_SAVE);
    bool ok = save_together(split, diags, arena, share_text(split, arena, path), state);
    arena_free(arena);
    return ok;
}

static bool serve_save(const Split *split, Diagnostics *diags)
{
    Arena *arena = arena_new();
    int64_t begin = trace_begin();
    bool ok = save_together(split, diags, arena, share_text(split, arena, NULL), NULL);
    trace_end("save checkpoint", begin);
    arena_free(arena);
    return ok;
}

/* ---- asking and serving ---- */

void split_fetch_params(const Split *split)
{
    ask(split, ASK_PARAMS);
    split_gather_params(split);
}

void split_end_serving(const Split *split) { ask(split, ASK_END); }

bool split_serve(const Split *split, Diagnostics *diags)
{
    for (;;) {
        int64_t what = ASK_END;
        ranks_share(split->ranks, &what, sizeof what);
        if (what == ASK_END)
            return true;
        if (what == ASK_PARAMS)
            split_gather_params(split);
        else if (!serve_save(split, diags))
            return false;
    }
}
