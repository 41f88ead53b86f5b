/* The data of a training: its model, texts or prepared data, vocabulary and corpora. */
#ifndef DRIVER_TRAIN_DATA_H
#define DRIVER_TRAIN_DATA_H

#include "driver/train/state.h"

/* Tokens a batch, of each side; 0: sentences count. */
int64_t training_batch_tokens(const TrainOptions *options, const TrainSpec *spec);
/* Reads the model once, to report its mistakes before a vocabulary is trained. */
bool training_load_model(Training *training, Job *job, const TrainOptions *options);
/* Opens options->prepared, and takes the vocabulary from it; false after errors. */
bool training_open_prepared(Job *job, TrainOptions *options);
/* The same for its kind, for what a model with such inputs reads. */
bool training_prepared_kind(Job *job, TrainOptions *options, const ModelPorts *ports);
/* Texts, vocabulary, corpora; the model again, with the vocabulary's size. False after errors. */
bool training_load_data(Training *training);
/* Frees all that the training has. */
void training_free(Training *training);

#endif
