/* Marian's names (marian-nmt.github.io, and its src/models/transformer.h). */
#include "driver/exchange/npz_marian.h"

#include "base/portable_math.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- settings ---- */

#define ROW(what, name, ours, without) \
    {.kind = IMPORT_##what, .key = name, .to = ours, .absent = without}
#define RENAME(key, to) ROW(RENAME, key, to, NULL)
#define MUST(key, value, absent) ROW(MUST, key, value, absent)
#define SET(key, value) ROW(MUST, key, value, value)

/* SET: what a model without the key means, too. */
static const ImportRow settings[] = {
    MUST("type", "\"transformer\"", NULL),
    RENAME("dim-emb", "d_model"),
    RENAME("enc-depth", "encoder_layers"),
    RENAME("dec-depth", "decoder_layers"),
    RENAME("transformer-dim-ffn", "encoder_ffn_dim"),
    RENAME("transformer-heads", "encoder_attention_heads"),
    ROW(RENAME, "transformer-dropout", "dropout", "0"),
    ROW(RENAME, "transformer-ffn-activation", "activation_function", "\"swish\""),
    MUST("transformer-ffn-activation", "[\"swish\", \"relu\"]", "\"swish\""),
    MUST("tied-embeddings-all", "true", "false"),
    SET("transformer-preprocess", "\"\""),
    MUST("transformer-postprocess", "\"dan\"", "\"dan\""),
    SET("transformer-postprocess-emb", "\"d\""),
    SET("transformer-postprocess-top", "\"\""),
    SET("transformer-ffn-depth", "2"),
    SET("transformer-decoder-ffn-depth", "0"),
    SET("transformer-decoder-dim-ffn", "0"),
    SET("transformer-decoder-autoreg", "\"self-attention\""),
    SET("transformer-train-position-embeddings", "false"),
    SET("transformer-no-projection", "false"),
    SET("transformer-no-bias", "false"),
    SET("transformer-no-affine", "false"),
    SET("output-omit-bias", "false"),
    SET("right-left", "false"),
    SET("ulr", "false"),
    SET("lemma-dim-emb", "0"),
    SET("transformer-pool", "false"),
    SET("transformer-rnn-projection", "false"),
    MUST("transformer-tied-layers", "[[]]", "[]"),
    MUST("output-approx-knn", "[[]]", "[]"),
    MUST("input-types", "[[], [\"sequence\", \"sequence\"]]", "[]"),
    ROW(IGNORE, NULL, NULL, NULL)};

const ImportModel marian_settings = {.type = "marian", .files = {"marian.tfg"}, .rows = settings};

/* Keys end with a blank (Marian's options of models, config_parser.cpp of 1.12). */
static const char unread[] =
    "version dim-vocabs dim-rnn enc-type enc-cell enc-cell-depth dec-cell dec-cell-base-depth "
    "dec-cell-high-depth skip layer-normalization best-deep tied-embeddings tied-embeddings-src "
    "transformer-dim-aan transformer-aan-depth transformer-aan-activation transformer-aan-nogate "
    "transformer-guided-alignment-layer transformer-depth-scaling transformer-dropout-attention "
    "transformer-dropout-ffn dropout-rnn dropout-src dropout-trg dropout-embeddings "
    "bert-mask-symbol bert-sep-symbol bert-class-symbol bert-masking-fraction "
    "bert-train-type-embeddings bert-type-vocab-size char-stride char-highway char-conv-filters-num "
    "char-conv-filters-widths conv-stride conv-highway-layers embedding-fix-src embedding-fix-trg "
    "ulr-query-vectors ulr-keys-vectors ulr-trainable-transformation ulr-dim-emb ulr-dropout "
    "ulr-softmax-temperature factors-combine factors-dim-emb lemma-dependency max-length "
    "original-type task inputs layers-biased ";

bool marian_is_unread(const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = unread; length && (at = strstr(at, key)); at++)
        if ((at == unread || at[-1] == ' ') && at[length] == ' ')
            return true;
    return false;
}

const JsonValue *marian_wrong_counts(const JsonValue *said, int64_t n_tokens)
{
    const JsonValue *counts = json_member(said, "dim-vocabs");
    for (size_t i = 0; counts && counts->kind == JV_LIST && i < counts->n; i++)
        if (counts->items[i].kind != JV_INTEGER ||
            (counts->items[i].integer && counts->items[i].integer != n_tokens))
            return counts;
    return NULL;
}

double marian_position_base(double width) { return portable_pow(10000, width / (width - 2)); }

/* ---- arrays ---- */

static const MarianName whole[] = {{MARIAN_EMBEDDING, "embedding", "vd"},
                                   {"decoder_ff_logit_out_b", "final_bias", "1v"}};
static const MarianName of_attention[] = {
    /* clang-format off */
    {"Wq", "query.weight",  "dd"},
    {"bq", "query.bias",    "1d"},
    {"Wk", "key.weight",    "dd"},
    {"bk", "key.bias",      "1d"},
    {"Wv", "value.weight",  "dd"},
    {"bv", "value.bias",    "1d"},
    {"Wo", "output.weight", "dd"},
    {"bo", "output.bias",   "1d"},
    /* clang-format on */
};
static const MarianName of_norm[] = {{"ln_scale", "gain", "1d"}, {"ln_bias", "bias", "1d"}};
static const MarianName of_ffn[] = {
    /* clang-format off */
    {"W1", "inner.weight", "df"},
    {"b1", "inner.bias",   "1f"},
    {"W2", "outer.weight", "fd"},
    {"b2", "outer.bias",   "1d"},
    /* clang-format on */
};

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

typedef struct Naming {
    Arena *arena;
    MarianNames names;
    const char *side;
    int64_t layer; /* from 0; theirs begin with 1 */
} Naming;

static void add_part(Naming *n, const char *theirs, const char *ours, const MarianName *list,
                     int count)
{
    for (int i = 0; i < count; i++) {
        MarianName name = {arena_printf(n->arena, "%s_l%" PRId64 "_%s_%s", n->side, n->layer + 1,
                                        theirs, list[i].theirs),
                           arena_printf(n->arena, "%s.layer.%" PRId64 ".%s.%s", n->side, n->layer,
                                        ours, list[i].ours),
                           list[i].shape};
        vec_push(n->arena, n->names, name);
    }
}

static void add_layers(Naming *n, const char *side, int64_t layers, bool crosses)
{
    n->side = side;
    for (n->layer = 0; n->layer < layers; n->layer++) {
        add_part(n, "self", "self", of_attention, COUNT(of_attention));
        add_part(n, "self_Wo", "self_norm", of_norm, COUNT(of_norm));
        if (crosses) {
            add_part(n, "context", "cross", of_attention, COUNT(of_attention));
            add_part(n, "context_Wo", "cross_norm", of_norm, COUNT(of_norm));
        }
        add_part(n, "ffn", "feed_forward", of_ffn, COUNT(of_ffn));
        add_part(n, "ffn_ffn", "feed_norm", of_norm, COUNT(of_norm));
    }
}

MarianNames marian_names(Arena *arena, int64_t encoder_layers, int64_t decoder_layers)
{
    Naming n = {.arena = arena};
    for (int i = 0; i < COUNT(whole); i++)
        vec_push(arena, n.names, whole[i]);
    add_layers(&n, "encoder", encoder_layers, false);
    add_layers(&n, "decoder", decoder_layers, true);
    return n.names;
}
