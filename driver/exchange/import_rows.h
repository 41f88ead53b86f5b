/* The macros in which the rows of published models are written (import_models.h), and their tables.
 * Values of keys that a config.json leaves out are those of Hugging Face's configuration classes
 * (documentation of transformers 4: MarianConfig, LlamaConfig, …). */
#ifndef DRIVER_EXCHANGE_IMPORT_ROWS_H
#define DRIVER_EXCHANGE_IMPORT_ROWS_H

#include "driver/exchange/import_models.h"

#define ROW(what, name, ours, without) \
    {.kind = IMPORT_##what, .key = name, .to = ours, .absent = without}
#define CONST(key, to, absent) ROW(CONST, key, to, absent)
#define FLAG(name, ours, is, without) \
    {.kind = IMPORT_FLAG, .key = name, .to = ours, .absent = without, .value = is}
#define KEY(key, absent) ROW(KEY, key, NULL, absent)
#define ACTIVATION(key, absent) ROW(ACTIVATION, key, NULL, absent)
#define SAME(key, to) ROW(SAME, key, to, "=" to)
#define MUST(key, value, absent) ROW(MUST, key, value, absent)
#define TOKEN(rule, key, absent) ROW(TOKEN, key, rule, absent)
#define PIECE(token, to) ROW(PIECE, token, to, NULL)
/* the const is the value and what follows it: " + 1" */
#define CONST_WITH(name, ours, without, more) \
    {.kind = IMPORT_CONST, .key = name, .to = ours, .absent = without, .value = more}
#define FIXED(to, is) ROW(FIXED, is, to, NULL)
#define FRONT(front, to) ROW(FRONT, front, to, NULL)
#define FACTORS(key, to, absent) ROW(FACTORS, key, to, absent)
#define LAYERS(key, to, absent) ROW(LAYERS, key, to, absent)
#define FROM_FIRST(name, ours, without) \
    {.kind = IMPORT_LAYERS, .key = name, .to = ours, .absent = without, .value = "first"}
#define FROM_LAYER(name, ours, without) \
    {.kind = IMPORT_LAYERS, .key = name, .to = ours, .absent = without, .value = "from"}
#define LABELS(to) ROW(LABELS, "id2label", to, NULL)
#define IGNORE(pattern) ROW(IGNORE, pattern, NULL, NULL)
#define END ROW(IGNORE, NULL, NULL, NULL)

/* import_rows_encoders.c, import_rows_decoders.c, import_rows_pairs.c */
extern const ImportRow import_rows_bert[], import_rows_roberta[], import_rows_distilbert[],
    import_rows_albert[];
extern const ImportRow import_rows_bert_vectors[], import_rows_roberta_vectors[],
    import_rows_distilbert_vectors[], import_rows_albert_vectors[];
extern const ImportRow import_rows_bert_scores[], import_rows_roberta_scores[],
    import_rows_distilbert_scores[], import_rows_albert_scores[];
extern const ImportRow import_rows_bert_classes[], import_rows_roberta_classes[],
    import_rows_distilbert_classes[], import_rows_albert_classes[];
extern const ImportRow import_rows_bert_labels[], import_rows_roberta_labels[],
    import_rows_distilbert_labels[], import_rows_albert_labels[];
extern const ImportRow import_rows_bert_pair_scores[], import_rows_roberta_pair_scores[],
    import_rows_distilbert_pair_scores[], import_rows_albert_pair_scores[];
extern const ImportRow import_rows_bert_pair_classes[], import_rows_roberta_pair_classes[],
    import_rows_distilbert_pair_classes[], import_rows_albert_pair_classes[];
extern const ImportRow import_rows_bert_tags[], import_rows_roberta_tags[],
    import_rows_distilbert_tags[], import_rows_albert_tags[];
extern const ImportRow import_rows_modernbert[], import_rows_modernbert_vectors[],
    import_rows_modernbert_scores[], import_rows_modernbert_classes[],
    import_rows_modernbert_labels[];
extern const ImportRow import_rows_gpt2[], import_rows_llama[], import_rows_mistral[],
    import_rows_qwen2[], import_rows_qwen3[], import_rows_phi3[], import_rows_olmo2[],
    import_rows_smollm3[];
extern const ImportRow import_rows_gemma[], import_rows_gemma2[], import_rows_gemma3[];
extern const ImportRow import_rows_marian[], import_rows_bart[], import_rows_mbart[],
    import_rows_m2m_100[], import_rows_t5[], import_rows_mt5[];

#endif
