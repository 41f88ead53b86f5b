#!/bin/sh
# What 0.2.0 made is read: runs of pairs, lines and a stream (tests/fixtures/0.2.0: translations, scores and
# continuations are that version's own) are used and resumed, and prepared data are trained on.
# Usage: version_0_2.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
cp -r "$root"/tests/fixtures/0.2.0/* .
head -n 20 train.src >valid.src
head -n 20 train.tgt >valid.tgt

"$tfc" translate pairs --input valid.src | cmp - pairs.translated || fail "pairs are translated otherwise"
"$tfc" score pairs --source valid.src --target valid.tgt | paste - pairs.scores |
    awk '{ d = $1 - $2; if (d < 0) d = -d; bad += !(d < 1e-4) } END { exit bad || NR != 20 }' || fail "pairs have other scores"
other=--allow-change # of the processor: the runs were made with AVX-512
for run in lines stream; do
    "$tfc" generate $run --prompt "a b" --tokens "$([ $run = lines ] && echo 8 || echo 12)" --temperature 0 | cmp - $run.generated ||
        fail "$run goes on otherwise"
    "$tfc" train $run --resume --steps 22 --text train.src $other 2>err || fail "$run is not resumed: $(cat err)"
    grep -q "done at step 22" err || fail "$run: $(cat err)"
done
# Options that did nothing then, and are refused today.
sed 's/"--gemm",/"--minutes", "0", "--patience", "2", "--validate-every", "5", &/' lines/run.json >run.json && mv run.json lines/run.json
"$tfc" train lines --resume --steps 24 --text train.src $other 2>err && grep -q "done at step 24" err || fail "idle options: $(cat err)"
"$tfc" train pairs --resume --steps 42 --source train.src --target train.tgt --valid-source valid.src --valid-target valid.tgt $other \
    2>err || fail "pairs are not resumed: $(cat err)"
grep -q "going on from step 40" err && grep -q "done at step 42" err || fail "$(cat err)"
"$tfc" train backwards.tfg --prepared prepared --steps 2 --out of-prepared 2>err || fail "prepared data: $(cat err)"
echo "all is well"
