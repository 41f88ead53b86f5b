/* The data of a training: its model, texts or prepared data, vocabulary and corpora. */
#ifndef DRIVER_TRAIN_DATA_H
#define DRIVER_TRAIN_DATA_H

#include "driver/train/state.h"

/* The limit of tokens in a batch, for each side; 0: batches are limited by sentences. */
int64_t training_batch_tokens(const TrainOptions *options, const TrainSpec *spec);
/* Begins *training and reads the model once, to report its mistakes before a vocabulary is made.
 * False after errors; training_free in any case. */
bool training_load_model(Training *training, Job *job, const TrainOptions *options);
/* Opens options->prepared, and takes the vocabulary from it; false after errors. */
bool training_open_prepared(Job *job, TrainOptions *options);
/* Checks that a model with the inputs `ports` reads prepared data of its kind, and sets
 * options->kind. False after an error. */
bool training_prepared_kind(Job *job, TrainOptions *options, const ModelPorts *ports);
/* Reads texts, loads or makes the vocabulary, opens the model again with the vocabulary's size, and
 * makes the corpora. False after errors. */
bool training_load_data(Training *training);
/* Loads or makes the vocabulary (vocabulary.c), and compares it and the labels with those of the
 * run whose params the training begins with. False after errors. */
bool training_make_vocabulary(Training *training);
/* Frees the training's data, programs and params. */
void training_free(Training *training);

/* ---- checks.c ---- */

/* Checks that are made early: before anything is compiled, and, as far as the vocabulary does not
 * matter, before that is made, which takes long. */

/* Checks that params and the optimizer's state fit into the free memory, and into --memory. The
 * model is open. Without knows_vocabulary, dimensions of a vocabulary's size count as 1. False
 * after an error. */
bool training_check_memory(Training *training, bool knows_vocabulary);
/* Checks the processor, the file of --json-summary and the memory, and warns if no param trains.
 * The model is open. False after errors. */
bool training_check_settings(Training *training);
/* Estimates from the sizes of the files of the training text and of the validation text without a
 * name whether a training on them fits into memory. False after an error: it does not. */
bool training_check_sizes(Training *training);

/* ---- overlap.c ---- */

/* Validation text that is training text. */

/* Warns of each validation text of which a tenth or more of the lines, pairs or records are among
 * those that are trained on: it measures what was learnt by heart. Streams, prepared data and
 * tensors are not compared. After the texts are read. */
void training_warn_of_overlap(Training *t);

#endif
