"""PyTorch's DistributedDataParallel with gloo: ranks of one machine, each with a batch of its own.

Prints tokens/s of the target of all ranks together, the median of the steps.
"""
import argparse
import json
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

from pytorch import NONE, SMOOTHING, Transformer, make_optimizer, uniform_batch


def run(rank, arguments, size, meeting):
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1 + rank)
    if arguments.ranks > 1:
        dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank,
                                world_size=arguments.ranks)
    model = Transformer(size["layers"], size["d_model"], size["d_ff"], size["heads"],
                        size["vocab"], size["norm_first"], 256)
    wrapped = DistributedDataParallel(model) if arguments.ranks > 1 else model
    if arguments.compile:
        wrapped = torch.compile(wrapped)
    optimizer, _ = make_optimizer(model)
    source, target, following, mask, tokens = uniform_batch(size, size["vocab"])
    seconds = []
    for _ in range(arguments.warm_up + arguments.steps):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        logits = wrapped(source, target, mask)
        F.cross_entropy(logits.flatten(0, 1), following.flatten(), ignore_index=NONE,
                        label_smoothing=SMOOTHING).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    if rank == 0:
        print(round(arguments.ranks * tokens / statistics.median(seconds[arguments.warm_up:])))
    if arguments.ranks > 1:
        dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=json.loads, required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(run, (arguments, arguments.size, f"{folder}/meeting"),
                        nprocs=arguments.ranks)


if __name__ == "__main__":
    main()
