#!/bin/sh
# Means of 65,536, 200,000 and 20 million equal numbers, along the last axis and along rows, and batch_norm's statistics over
# 65,536 pixels, are right to 1e-6: added one after the other they would be 6e-4 to 5e-2 off.
# Usage: means.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export OMP_NUM_THREADS=1
cat >means.tfg <<'END'
model means
dim N, M, P, Q
input  line : float[1, N]
input  rows : float[M, 2]
input  pixels : float[P, Q, 2]
output along_line = mean(line, -1)
output along_rows = mean(rows, 0)
loss = mean(batch_norm as norm(pixels, 1)) # momentum 1: what runs are the statistics of this batch
train {
  optimizer = sgd()
  rate      = constant(0)
  batch     = sentences(1)
}
END
"$tfc" compile means.tfg -o libmeans.so 2>err || fail "$(cat err)"
# shellcheck disable=SC2086
$CC -O1 "$root/tests/cli/means.c" -o means -I. -L. -lmeans -Wl,-rpath,"$work" -lm
./means >out || fail "$(cat out)"
