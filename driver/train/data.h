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
/* Frees the training's data, programs and params. */
void training_free(Training *training);

#endif
