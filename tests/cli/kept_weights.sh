#!/bin/sh
# What decoding prepares of a checkpoint's weights is kept in the cache, and mapped by the next process: the same text, also
# where the checkpoint, the model's map or the kept file is another. What a checkpoint must not hold is reported as ever.
set -eu
. tests/common.sh
enter_work
export TFC_CACHE="$work/cache"
cat >model.tfg <<'END_MODEL'
model wide
use transformer
const layers = 1, d_model = 256, d_ff = 4096, heads = 2, vocab = 8
train {
  rate  = constant(0.003)
  batch = tokens(200)
}
END_MODEL
words_backwards
"$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --steps 2 --out run 2>err || fail "$(cat err)"
head -n 3 train.src >lines

blocks() { find cache -name '*.tfcw' | wc -l; }
translate() { "$tfc" translate run "$@" <lines 2>err || fail "$(cat err)"; }

TFC_CACHE=off translate >want
[ "$(blocks)" = 0 ] || fail "there are blocks before anything was translated"
translate >first
n=$(blocks)
[ "$n" -gt 0 ] || fail "nothing was kept"
translate >second
[ "$(blocks)" = "$n" ] || fail "the second process kept something again"
cmp want first && cmp want second || fail "other text with kept weights"
translate --beam 2 >beam
TFC_CACHE=off translate --beam 2 >beam.off
cmp beam beam.off || fail "other text by beams with kept weights"
translate --dtype bf16 >bf16.first
translate --dtype bf16 >bf16
TFC_CACHE=off translate --dtype bf16 >bf16.off
cmp bf16 bf16.off && cmp bf16.first bf16.off || fail "other text in bf16 with kept weights"
"$tfc" score run --source lines --target lines >score 2>err || fail "$(cat err)"
TFC_CACHE=off "$tfc" score run --source lines --target lines >score.off 2>err || fail "$(cat err)"
cmp score score.off || fail "other scores with kept weights"

# Damage is found by size and by the pages that are looked at; a link, or a file that others may write, is none of ours.
for file in $(find cache -name "*.tfcw" | head -n 1); do
    cp "$file" kept
    printf 'x' | dd of="$file" bs=1 seek=4100 conv=notrunc 2>/dev/null
    translate >damaged
    cmp want damaged || fail "a damaged block was read"
    truncate -s 5000 "$file"
    translate >damaged
    cmp want damaged || fail "a block that was cut was read"
    cp kept "$file" && chmod 666 "$file"
    translate >damaged
    cmp want damaged || fail "other text after a block that others may write to"
done

# All pages but those that are looked at: found at once, and the block is made anew.
translate >again
python3 - <<'END'
import glob, os
for path in glob.glob("cache/*.tfcw"):
    pages = (os.path.getsize(path) - 4096) // 4096
    sampled = {i * pages // 64 for i in range(64)}
    with open(path, "r+b") as f:
        for page in set(range(pages)) - sampled:
            f.seek(4096 + 4096 * page)
            f.write(b"\x3f\x00" * 2048)
END
for turn in 1 2; do
    translate >damaged
    cmp want damaged || fail "turn $turn: a block that was overwritten was read"
done
[ "$(find cache -name '*.tfcs' | wc -l)" = "$(blocks)" ] || fail "blocks have no stamps: $(ls cache)"

# Another checkpoint under the same name is another one.
"$tfc" train run --resume --steps 30 2>err || fail "$(cat err)"
translate >trained
TFC_CACHE=off translate >trained.off
cmp trained trained.off || fail "the weights of an earlier checkpoint were read"
! cmp -s want trained || fail "28 more steps changed nothing: this test sees nothing"
echo "all is well"
