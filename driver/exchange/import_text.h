/* Which tokens begin, end and separate the texts of a published language model. */
#ifndef DRIVER_EXCHANGE_IMPORT_TEXT_H
#define DRIVER_EXCHANGE_IMPORT_TEXT_H

#include "driver/exchange/import_config.h"
#include "driver/ports/ports.h"

/* Appends rules of the vocabulary (runtime/data/token_rules.h) from the files of a published
 * folder:
 *   text-begin, text-end   the tokens before and after a text. None if tokenizer_config.json's
 *                          add_bos_token, or add_eos_token, is false; else those of
 *                          tokenizer.json's template; if that has none there, bos_token or
 *                          eos_token if the flag is true, which where the file does not name them
 *                          are the tokens `begin` and `end`. A SentencePiece model without
 *                          add_bos_token begins a text so, too
 *   newline                none: line breaks are the tokenizer's
 *   stop                   the ends, one or several (published_tokens.h)
 * False after errors, such as a file that is not JSON, an id that the vocabulary does not have, or
 * a template that puts several tokens on one side of a text. */
bool import_text_tokens(Job *job, const char *folder, const ImportConfig *config,
                        const Vocabulary *vocab, TextList *tokens);
/* The same of an encoder, whose texts are columns: source-begin and source-end, the tokens of the
 * template or, where it has none, the vocabulary's begin and end. */
bool import_text_frame(Job *job, const char *folder, const Vocabulary *vocab, TextList *tokens);
/* The same of an encoder-decoder: source-begin, where the template has a token before a text, such
 * as that of a language; source-end, where a SentencePiece model's is not the eos_token of
 * tokenizer_config.json; and, where translations end with others than the token `end` alone, the
 * stops. */
bool import_text_source(Job *job, const char *folder, const ImportConfig *config,
                        const Vocabulary *vocab, TextList *tokens);
/* The one of these that the model's inputs call for; of other models, none. */
bool import_text_rule(Job *job, const char *folder, const ImportConfig *config,
                      const ModelPorts *ports, const Vocabulary *vocab, TextList *tokens);
/* The rules of a run: those that were read, but for stops where others are said, and then those
 * that --token says. */
TextList import_text_rules(Arena *arena, const TextList *read, const TextList *said);

#endif
