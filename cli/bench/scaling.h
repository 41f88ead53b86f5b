/* Predicts the speed of a training by many ranks from a step of one rank, the size of the params
 * and the speed of a network. Each rank has a batch of its own. */
#ifndef CLI_BENCH_SCALING_H
#define CLI_BENCH_SCALING_H

#include <stdint.h>

/* Scaling: the measured numbers, in seconds and bytes. */
typedef struct Scaling {
    /* seconds for each token, source and target; seconds of the update, the rest of a step */
    double token, rest;
    /* bytes of all gradients, which are as large as the params; of the largest one */
    double bytes, largest;
    double rows;         /* of the largest param */
    double given, first; /* bytes of all params as sent to other ranks; of the largest one */
    double tokens;       /* of each rank in a step */

    /* of the network: seconds until a message arrives; bytes per second, each way */
    double delay, speed;
    double memory;   /* bytes per second between ranks of a machine */
    double handling; /* bytes per second that a rank's threads can send, receive and add */
    int64_t shards;  /* pieces of a batch, which ranks share; more ranks compute a piece each */
    int64_t machine; /* ranks on each machine, which share its network */
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

/* Tokens per second of all ranks together. */
double scaling_rate(const Scaling *scaling, ScalingWay way, int64_t ranks);

#endif
