#!/usr/bin/env python3
"""The forward pass of a model that bench/speed/pytorch.py exported, by ONNX Runtime; served as
serve.py says.

  onnx_runtime.py MODEL.onnx VOCAB BATCH SOURCE_LENGTH TARGET_LENGTH THREADS
"""
import sys

import numpy
import onnxruntime

from serve import serve

path, (vocab, batch, source, target, threads) = sys.argv[1], map(int, sys.argv[2:])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = threads
session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
random = numpy.random.default_rng(1)
inputs = {"source": random.integers(4, vocab, (batch, source)),
          "target": random.integers(4, vocab, (batch, target))}
serve(lambda i: session.run(None, inputs), [batch * target],
      version=onnxruntime.__version__, flags=[])
