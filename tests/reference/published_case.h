/* PublishedCase: a family of published.c, from its fixture, and its folder as it is published. */
#ifndef TESTS_REFERENCE_PUBLISHED_CASE_H
#define TESTS_REFERENCE_PUBLISHED_CASE_H

#include "tests/reference/harness.h"

typedef struct PublishedCase {
    const char *name, *fixture;
    const char *run; /* what tfc import made */
    StFile *theirs;
    int batches;
    double rate;
} PublishedCase;

/* None of a batch and no result. */
bool case_is_weight(const StTensor *tensor);
/* The input of a classifier that has its labels; NULL: it is none. */
const char *case_labels(const PublishedCase *c);
/* A family that classifies, finds hidden tokens or makes vectors, and generates nothing. */
bool case_is_encoder(const PublishedCase *c);
/* Marian's kind, whose <pad> has a logit in PyTorch alone. */
bool case_is_marian(const PublishedCase *c);
/* config.json, tokenizer.json and the weights, as a folder: its path. LLaMA's has fewer tokens
 * than rows. */
const char *case_write_folder(Harness *h, const PublishedCase *c);
void case_write_text(Harness *h, const char *folder, const char *name, const char *text);

#endif
