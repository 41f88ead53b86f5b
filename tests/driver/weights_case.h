/* A model with each form of a weights block, and the tensors that it reads, in a folder of its own:
 * shared by the tests of weights. */
#ifndef TESTS_DRIVER_WEIGHTS_CASE_H
#define TESTS_DRIVER_WEIGHTS_CASE_H

#include "driver/run/weights.h"

typedef struct Fixture {
    char folder[32];
    Job job;
    Session session;
    Store *store;
} Fixture;

/* cmocka's setup and teardown: *state is a Fixture. */
int open_weights_case(void **state);
int close_weights_case(void **state);
/* FOLDER/NAME, in the job's arena. */
const char *in_folder(Fixture *f, const char *name);
/* Opens the model of weights_case.c with the weights block `map`, its params initialised. False
 * after an error. */
bool open_model(Fixture *f, const char *map);
/* A tensor of consecutive numbers from `first` on. */
StTensor numbers(Fixture *f, const char *name, float first, int rank, const int64_t *dims);
/* Tensors that weights_map reads. */
enum { TENSORS = 8 };
extern const char weights_map[];
void make_tensors(Fixture *f, StTensor tensors[TENSORS]);
/* Writes them as theirs.safetensors; returns its path. */
const char *write_checkpoint(Fixture *f, const StTensor *tensors, int n);
/* Element i of a param of the store. */
double element(Fixture *f, const char *name, int64_t i);
/* All messages so far. */
const char *told(Fixture *f);

#endif
