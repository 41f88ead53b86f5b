#!/bin/sh
# Training in bf16 beside f32 on made-up text (words read backwards): the same losses but
# for rounding, f32 checkpoints that either type resumes, the same bits on any number of
# threads, less memory; and what is refused.
# Usage: bf16.sh TFC   (from the project's root)
set -eu
tfc=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TFC_LIBRARY="$PWD/models/lib"
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }

cat >model.tfg <<'END'
model backwards
use transformer_pre_norm
const layers = 2, d_model = 32, d_ff = 64, heads = 4, vocab = 8
const p_drop = 0.1
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = inverse_sqrt(peak = 0.005, warmup = 40)
  batch     = tokens(400)
  clip_norm = 1
}
END
awk 'BEGIN { srand(7); for (i = 0; i < 1200; i++) { n = 2 + int(rand() * 5); s = t = "";
     for (k = 0; k < n; k++) { w = substr("abcdefgh", 1 + int(rand() * 8), 1);
     s = s (k ? " " : "") w; t = w (k ? " " : "") t }
     print s > "all.src"; print t > "all.tgt" } }'
for side in src tgt; do
    head -n 1100 all.$side >train.$side
    tail -n 100 all.$side >valid.$side
done
train() {
    out=$1
    shift
    "$tfc" train model.tfg --source train.src --target train.tgt --valid-source valid.src \
        --valid-target valid.tgt --no-bleu --vocab words:auto --out "$out" --report-every 10 \
        --validate-every 50 --seed 3 "$@" 2>"$out.err" || fail "$out: $(cat "$out.err")"
}
# The tensors of a checkpoint, without the header (which holds the seconds).
tensors() {
    header=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    tail -c +$((header + 9)) "$1"
}
valid_loss() { sed -n 's/.*"valid_loss": \([0-9.]*\).*/\1/p' "$1/log.jsonl" | tail -n 1; }
# Whether a and b differ by at most so many percent of b.
close() { awk "BEGIN { d = $1 - $2; exit !((d < 0 ? -d : d) <= $2 * $3 / 100) }"; }

train wide --steps 100
train half --steps 100 --dtype bf16
wide=$(valid_loss wide)
half=$(valid_loss half)
echo "validation loss after 100 steps: $wide in f32, $half in bf16"
[ "$wide" != "$half" ] || fail "bf16 computes in f32"
close "$half" "$wide" 2 || fail "bf16 trains to $half, f32 to $wide"

# The same bits on one thread; whole, and in two parts.
train one --steps 100 --dtype bf16 --threads 1
train parts --steps 60 --dtype bf16
train parts --steps 100 --dtype bf16 --resume
tensors half/last.safetensors >a
for run in one parts; do
    tensors $run/last.safetensors >b
    cmp a b || fail "$run: other params"
done

# Checkpoints hold f32 params: each type goes on with the other's run.
[ "$("$tfc" info half/last.safetensors | grep -c bf16)" = 0 ] || fail "a checkpoint holds bf16"
train half --steps 120 --resume
train wide --steps 120 --resume --dtype bf16
close "$(valid_loss half)" "$(valid_loss wide)" 2 ||
    fail "exchanged at step 100: $(valid_loss half) and $(valid_loss wide)"

# What is kept for the backward takes half the room, with attention regions and without.
planned() {
    "$tfc" bench model.tfg --batch 64 --source-length 32 --target-length 32 --steps 1 --warm-up 0 \
        --json "$@" | sed -n 's/.*"planned_peak_bytes": \([0-9]*\).*/\1/p'
}
saves_memory() {
    f32=$(planned --dtype f32 "$@")
    bf16=$(planned --dtype bf16 "$@")
    echo "planned: $bf16 bytes in bf16, $f32 in f32 $*"
    [ $((bf16 * 100)) -lt $((f32 * 75)) ] || fail "planned: $bf16 bytes in bf16, $f32 in f32 $*"
}
saves_memory
saves_memory --passes=-fuse_attention

# The whole way can be seen, for machines with the instruction, too.
"$tfc" dump model.tfg --dtype bf16 --report >report
grep -q "bf16: the backward reads" report || fail "the report does not say what is bf16"
"$tfc" dump model.tfg --dtype bf16 --stage asm --cpu sapphirerapids >asm
grep -q vdpbf16ps asm || fail "no vdpbf16ps for sapphirerapids"
status=0
"$tfc" bench model.tfg --mode decode --dtype bf16 >out 2>&1 || status=$?
[ $status = 2 ] || fail "decoding in bf16: status $status"
