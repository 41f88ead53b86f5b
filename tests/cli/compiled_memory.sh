#!/bin/sh
# A compiled program has its weights in memory once: as packed for its products, not also as the file has them.
# Usage: tests/cli/compiled_memory.sh TFC
set -eu
. tests/common.sh
enter_work
for i in 1 2 3 4 5 6 7 8; do echo "a b c $i"; done >t.txt
cat >m.tfg <<'M'
model m
use language_model
const vocab = 40, layers = 4, d_model = 512, heads = 4, d_ff = 2048, context = 32
train { batch = tokens(300); rate = constant(0.001) }
M
"$tfc" train m.tfg --text t.txt --lines --vocab words:auto --steps 1 --out run 2>err.txt || fail "$(cat err.txt)"
"$tfc" compile run --gemm native --function decode_step -o answer 2>err.txt || fail "$(cat err.txt)"
weights=$(($(wc -c <answer) / 1024))
[ $weights -gt 40000 ] || fail "the program has $weights kB: too few to tell"
peak=$(OMP_NUM_THREADS=1 python3 -c '
import resource, subprocess, sys
subprocess.run(["./answer", "--tokens", "3", "--threads", "1"], input=b"a b\n", check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)')
[ "$peak" -lt $((weights * 3 / 2)) ] || fail "$peak kB in memory for $weights kB of weights"
echo "all is well"
