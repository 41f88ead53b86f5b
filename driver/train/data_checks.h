/* Checks of a training's data beside its model. All return false after an error. */
#ifndef DRIVER_TRAIN_DATA_CHECKS_H
#define DRIVER_TRAIN_DATA_CHECKS_H

#include "driver/train/state.h"

/* A model that predicts next tokens and cannot be asked for them one by one: it may see what it is
 * to predict. What tfc check and tfc generate say of it is a warning here. */
void training_warn_of_future(Training *t);
/* Whether what the model predicts reads only params that the loss reads: others would stay as they
 * began, and checkpoints have none of them. */
bool training_check_predictions(Training *t);
/* "`src`, `label`": the inputs that prepared data feeds. */
const char *training_prepared_inputs(Arena *arena, const Prepared *rows);
/* Whether prepared data is of texts or of a table, as the model reads it, and feeds its inputs. */
bool training_check_prepared_inputs(const Training *t);
/* Whether the columns of prepared data hold what the model reads. */
bool training_check_prepared_columns(const Training *t);
/* Whether the vocabulary is still that of the prepared data, if there is such. */
bool training_check_vocabulary(const Training *t);
/* Whether the model has positions for texts of that length, and of what its train block says. */
bool training_check_length(const Training *t, int64_t length);
/* Whether the vocabulary has tokens for most of what is trained on: else the model would learn to
 * say the unknown one, by a loss that looks good. A run that is resumed has begun so. */
bool training_check_unknown(Training *t);
/* Whether dimensions made of others have lengths below 2^31 in each row of a corpus that is not
 * prepared; `lines` are those of its text. */
bool training_check_made(const Training *t, const Corpus *corpus, const Lines *lines);

#endif
