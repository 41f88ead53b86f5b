/* Predicts the speed of a training by many ranks from a step of one rank, the size of the params
 * and the speed of a network. Each rank has a batch of its own. */
#ifndef CLI_BENCH_SCALING_H
#define CLI_BENCH_SCALING_H

#include <stdint.h>

/* Scaling: the measured numbers, in seconds, bytes and elements. */
typedef struct Scaling {
    /* seconds a token, source and target; of the rest of a step: the update */
    double token, rest;
    /* of the gradients, which are as large as the params; of the largest one */
    double bytes, largest;
    double rows;         /* of the largest one */
    double given, first; /* of the params as they go to other ranks; of the largest one so */
    double tokens;       /* a rank and step */

    /* of the network: seconds until a message arrives; bytes a second, each way */
    double delay, speed;
    double memory;   /* bytes a second between ranks of a machine */
    double handling; /* bytes a second that a rank's threads can send, receive and add */
    int64_t shards;  /* of a batch, where there are no more ranks */
    int64_t machine; /* ranks of a machine, which share its network */
} Scaling;

/* ScalingWay: how gradients are summed and params given to all. */
typedef enum ScalingWay {
    SCALING_HALVING, /* as tfc does */
    SCALING_RING,
    SCALING_TREE,     /* to one rank and back */
    SCALING_MACHINES, /* halving in a machine, then among machines */
    N_SCALING_WAYS
} ScalingWay;
extern const char *const scaling_ways[N_SCALING_WAYS];

/* Tokens a second of all ranks together. */
double scaling_rate(const Scaling *scaling, ScalingWay way, int64_t ranks);

#endif
