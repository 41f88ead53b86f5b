#!/bin/sh
# Products with an epilogue: the same bits as without after steps of training, on ragged
# batches whose products are cut into blocks of rows and columns, and on any threads.
# Usage: products.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >model.tfg <<'END'
model blocks
use transformer
const layers = 1, d_model = 128, d_ff = 1024, heads = 4, vocab = 8
const p_drop = 0.1
train { optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9); rate = constant(0.001) }
END
awk 'BEGIN { srand(7); for (i = 0; i < 240; i++) { n = 1 + int(rand() * 9); s = "";
     for (k = 0; k < n; k++) s = s (k ? " " : "") substr("abcdefgh", 1 + int(rand() * 8), 1);
     print s > "text.src"; print s > "text.tgt" } }'

"$tfc" dump model.tfg --function train_step --stage plan >plan
[ "$(grep -c 'each part:' plan)" -ge 6 ] || fail "products of a train step have no epilogues"
"$tfc" dump model.tfg --function train_step --stage plan --passes=-fuse_products >plan
! grep -q 'each part:' plan || fail "--passes=-fuse_products leaves epilogues"

# trained NAME OPTIONS …: the tensors of a checkpoint after some steps
trained() {
    name=$1
    shift
    "$tfc" train model.tfg --source text.src --target text.tgt --vocab words:auto --out run.$name \
        --steps 4 --batch-sentences 120 --seed 3 "$@" >/dev/null 2>err || fail "$name: $(cat err)"
    tensors run.$name/last.safetensors >$name
}
for gemm in blas native; do
    trained joined.$gemm --gemm $gemm
    trained apart.$gemm --gemm $gemm --passes=-fuse_products
    cmp joined.$gemm apart.$gemm || fail "--gemm $gemm: other params after training"
    trained one.$gemm --gemm $gemm --threads 1
    cmp joined.$gemm one.$gemm || fail "--gemm $gemm: other params on one thread"
done
trained joined.bf16 --dtype bf16
trained apart.bf16 --dtype bf16 --passes=-fuse_products
cmp joined.bf16 apart.bf16 || fail "bf16: other params after training"

# A decoding step's weights, packed once for many steps: the same translations and scores.
"$tfc" dump model.tfg --function decode_step --stage plan >plan
grep -q '= panels of' plan || fail "a decoding step packs no weights"
"$tfc" dump model.tfg --function decode_step --stage plan --passes=-prepack >plan
! grep -q '= panels of' plan || fail "--passes=-prepack packs weights"
head -40 text.src | "$tfc" translate run.joined.native --beam 4 --nbest 2 >packed
head -40 text.src | "$tfc" translate run.joined.native --beam 4 --nbest 2 --passes=-prepack >apart
[ -s packed ] && cmp packed apart || fail "other translations by packed weights"
