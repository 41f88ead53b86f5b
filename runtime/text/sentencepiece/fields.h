/* The numbers of SentencePiece's models (base/proto.h): each enumerator is a field or a value of
 * sentencepiece_model.proto under its own name; GGUF has the same types of pieces. */
#ifndef RUNTIME_TEXT_SENTENCEPIECE_FIELDS_H
#define RUNTIME_TEXT_SENTENCEPIECE_FIELDS_H

enum { SP_MODEL_pieces = 1, SP_MODEL_trainer_spec = 2, SP_MODEL_normalizer_spec = 3 };
enum { SP_MODEL_denormalizer_spec = 5 };
/* Of those that SentencePiece reserves for extensions: how many pieces have an id
 * (runtime/data/marian_vocab.h); whether the names of control pieces in a text are these pieces, as
 * in a tokenizer.json; for how many ids the model has rows (tokenizer_limit). */
enum { SP_MODEL_listed = 200, SP_MODEL_specials = 201, SP_MODEL_rows = 202 };
enum { SP_PIECE_piece = 1, SP_PIECE_score = 2, SP_PIECE_type = 3 };
enum { SP_TRAINER_model_type = 3, SP_TRAINER_treat_whitespace_as_suffix = 24 };
enum { SP_TRAINER_byte_fallback = 35 };
enum { SP_TRAINER_unk_id = 40, SP_TRAINER_bos_id = 41, SP_TRAINER_eos_id = 42 };
enum { SP_TRAINER_pad_id = 43, SP_TRAINER_unk_surface = 44 };
enum { SP_TRAINER_unk_piece = 45, SP_TRAINER_bos_piece = 46, SP_TRAINER_eos_piece = 47 };
enum { SP_TRAINER_pad_piece = 48 };
enum { SP_NORMALIZER_precompiled_charsmap = 2, SP_NORMALIZER_add_dummy_prefix = 3 };
enum { SP_NORMALIZER_remove_extra_whitespaces = 4, SP_NORMALIZER_escape_whitespaces = 5 };

typedef enum SpType { SP_NORMAL = 1, SP_UNKNOWN, SP_CONTROL, SP_USER, SP_UNUSED, SP_BYTE } SpType;
typedef enum SpKind { SP_UNIGRAM = 1, SP_BPE, SP_WORD, SP_CHAR } SpKind;

#endif
