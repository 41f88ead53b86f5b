/* From a SentencePiece model and a list of ids to a model in the list's order. */
#include "runtime/data/marian_vocab.h"

#include "base/json_read.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/proto.h"
#include "runtime/text/sentencepiece/sp.h"

#include <string.h>

enum { MOST_IDS = 1 << 24 };

/* A piece of the SentencePiece model: its message as it is there. */
typedef struct Piece {
    const char *message;
    size_t size;
    const char *text;
    bool is_listed;
} Piece;

typedef struct Building {
    Diagnostics *diags;
    Arena *arena;
    const Source *model, *list;
    bool is_whole, has_more; /* the model has pieces that the list lacks */
    VEC(Piece *) pieces;     /* of the model, in its order */
    Map by_text;
    const char **listed; /* by id */
    int32_t n;
} Building;

static bool refuse_marian(Building *b, const Source *file, const char *what)
{
    diag_error(b->diags, (Loc){.source = file}, "%s", what);
    return false;
}

/* ---- reading ---- */

static bool add_piece(Building *b, const ProtoField *from)
{
    Piece *piece = ARENA_NEW(b->arena, Piece);
    *piece = (Piece){.message = from->bytes, .size = from->size, .text = ""};
    Proto message = proto_message(from->bytes, from->size);
    ProtoField f;
    while (proto_next(&message, &f))
        if (f.number == SP_PIECE_piece && f.kind == PROTO_BYTES)
            piece->text = arena_strndup(b->arena, f.bytes, f.size);
    vec_push(b->arena, b->pieces, piece);
    map_set(&b->by_text, piece->text, piece);
    return !message.bad;
}

static bool read_model(Building *b)
{
    Proto message = proto_message(b->model->text, b->model->length);
    ProtoField f;
    bool ok = true;
    while (ok && proto_next(&message, &f)) {
        if (f.number == SP_MODEL_pieces && f.kind == PROTO_BYTES)
            ok = add_piece(b, &f);
        if (f.number != SP_MODEL_trainer_spec || f.kind != PROTO_BYTES)
            continue;
        Proto trainer = proto_message(f.bytes, f.size);
        for (ProtoField t; proto_next(&trainer, &t);)
            if (t.number == SP_TRAINER_model_type && t.kind == PROTO_VARINT &&
                t.value != SP_UNIGRAM && t.value != SP_BPE)
                return refuse_marian(
                    b, b->model,
                    "with a vocab.json, only SentencePiece's unigram and BPE models are "
                    "read");
    }
    return (ok && !message.bad && b->pieces.count) ||
           refuse_marian(b, b->model, "not a SentencePiece model");
}

static bool read_list(Building *b)
{
    const char *problem = NULL;
    JsonValue *json = json_read(b->arena, b->list->text, b->list->length, &problem);
    if (!json || json->kind != JV_OBJECT)
        return refuse_marian(b, b->list, json ? "expected {\"piece\": id, …}" : problem);
    b->n = (int32_t)json->n;
    if (json->n < 1 || json->n > MOST_IDS)
        return refuse_marian(b, b->list, "it has no pieces, or too many");
    b->listed = ARENA_ARRAY(b->arena, const char *, b->n);
    memset(b->listed, 0, sizeof *b->listed * (size_t)b->n);
    for (size_t i = 0; i < json->n; i++) {
        const JsonValue *id = &json->items[i];
        if (id->kind != JV_INTEGER || id->integer < 0 || id->integer >= b->n ||
            b->listed[id->integer])
            return refuse_marian(b, b->list,
                                 arena_printf(b->arena,
                                              "the id of '%s' is not one of 0 to %d, each once",
                                              json->keys[i], b->n - 1));
        b->listed[id->integer] = json->keys[i];
    }
    return true;
}

/* ---- writing ---- */

/* A piece that this language's model does not have: no text is cut into it. */
static void put_foreign(const Building *b, Text *out, const char *text)
{
    static const char *const controls[] = {"<pad>", "<s>", "</s>"};
    SpType type = b->is_whole ? SP_CONTROL : SP_UNUSED;
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, controls[i]))
            type = SP_CONTROL;
    Text piece = {0};
    proto_put_string(&piece, SP_PIECE_piece, text);
    proto_put_int(&piece, SP_PIECE_type, type);
    proto_put_message(out, SP_MODEL_pieces, &piece);
}

static void put_pieces(Building *b, Text *out)
{
    for (int32_t id = 0; id < b->n; id++) {
        Piece *piece = map_get(&b->by_text, b->listed[id]);
        if (piece) {
            piece->is_listed = true;
            proto_put_bytes(out, SP_MODEL_pieces, piece->message, piece->size);
        } else {
            put_foreign(b, out, b->listed[id]);
        }
    }
    for (size_t i = 0; i < b->pieces.count; i++)
        if (!b->pieces.data[i]->is_listed) {
            proto_put_bytes(out, SP_MODEL_pieces, b->pieces.data[i]->message,
                            b->pieces.data[i]->size);
            b->has_more = true;
        }
}

/* All else that the model says: how it was trained, how text is normalized. */
static void put_rest(Building *b, Text *out)
{
    Proto message = proto_message(b->model->text, b->model->length);
    for (ProtoField f; proto_next(&message, &f);)
        if (f.number != SP_MODEL_pieces && f.kind == PROTO_BYTES)
            proto_put_bytes(out, f.number, f.bytes, f.size);
    if (b->is_whole && !b->has_more)
        return;
    proto_put_int(out, SP_MODEL_listed, b->n);
}

const char *marian_model(Diagnostics *diags, Arena *arena, const Source *pieces, const Source *list,
                         bool is_whole, size_t *size)
{
    Building b = {
        .diags = diags, .arena = arena, .model = pieces, .list = list, .is_whole = is_whole};
    map_init(&b.by_text, arena);
    if (!read_model(&b) || !read_list(&b))
        return NULL;
    Text out = {0};
    put_pieces(&b, &out);
    put_rest(&b, &out);
    *size = out.length;
    const char *bytes = arena_copy(arena, out.data, out.length);
    text_free(&out);
    return bytes;
}
