#!/bin/sh
# Training in bf16 beside f32 on made-up text (words read backwards): the same losses but
# for rounding, f32 checkpoints that either type resumes, the same bits on any number of
# threads, less memory; and what is refused.
# Usage: bf16.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

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
words_backwards
train() {
    out=$1
    shift
    "$tfc" train model.tfg --source train.src --target train.tgt --valid-source valid.src \
        --valid-target valid.tgt --no-bleu --vocab words:auto --out "$out" --report-every 10 \
        --validate-every 50 --seed 3 "$@" 2>"$out.err" || fail "$out: $(cat "$out.err")"
}
valid_loss() { number valid_loss <"$1/log.jsonl" | tail -n 1; }
# Whether a and b differ by at most so many percent of b.
close() { awk "BEGIN { d = $1 - $2; exit !((d < 0 ? -d : d) <= $2 * $3 / 100) }"; }

train wide --steps 100
train half --steps 100 --dtype bf16
wide=$(valid_loss wide)
half=$(valid_loss half)
echo "validation loss after 100 steps: $wide in f32, $half in bf16"
[ "$wide" != "$half" ] || fail "bf16 computes in f32"
close "$half" "$wide" 2 || fail "bf16 trains to $half, f32 to $wide"

# The same bits on one thread; whole, and in two parts; with weights that the optimizer
# rounds, and with such as are cast in every step.
train one --steps 100 --dtype bf16 --threads 1
train cast --steps 100 --dtype bf16 --passes=-repack
train parts --steps 60 --dtype bf16
train parts --steps 100 --dtype bf16 --resume
for run in one parts cast; do
    same_tensors half/last.safetensors $run/last.safetensors "$run: other params"
done

# Checkpoints hold f32 params: each type goes on with the other's run, where that is meant.
[ "$("$tfc" info half/last.safetensors | grep -c bf16)" = 0 ] || fail "a checkpoint holds bf16"
train half --steps 120 --resume --dtype f32 --allow-change
train wide --steps 120 --resume --dtype bf16 --allow-change
close "$(valid_loss half)" "$(valid_loss wide)" 2 ||
    fail "exchanged at step 100: $(valid_loss half) and $(valid_loss wide)"

# What is kept for the backward takes half the room, with attention regions and without.
planned() {
    "$tfc" bench model.tfg --batch 64 --source-length 32 --target-length 32 --steps 1 --warm-up 0 \
        --json "$@" | number planned_peak_bytes
}
saves_memory() {
    f32=$(planned --dtype f32 "$@")
    bf16=$(planned --dtype bf16 "$@")
    echo "planned: $bf16 bytes in bf16, $f32 in f32 $*"
    [ $((bf16 * 100)) -lt $((f32 * 75)) ] || fail "planned: $bf16 bytes in bf16, $f32 in f32 $*"
}
saves_memory
saves_memory --passes=-fuse_attention

# Each way of multiplying pairs gives the same but for rounding.
train old --steps 100 --dtype bf16 --cpu x86-64-v3
close "$(valid_loss old)" "$wide" 2 || fail "bf16 by AVX2 trains to $(valid_loss old), f32 to $wide"
refuses 1 'no CPU is called "pdp11"' "$tfc" bench model.tfg --cpu pdp11

# The whole way can be seen, for machines with instructions for pairs, too.
"$tfc" dump model.tfg --dtype bf16 --report >report
grep -q "bf16: the backward reads" report || fail "the report does not say what is bf16"
for case in znver4:vdpbf16ps sapphirerapids:tdpbf16ps; do
    "$tfc" dump model.tfg --dtype bf16 --stage asm --cpu "${case%:*}" >asm
    grep -q "${case#*:}" asm || fail "no ${case#*:} for ${case%:*}"
done

# Decoding and scoring in bf16: the weights' products are, caches stay f32. Scores of a search are
# those of scoring the same pairs, but for rounding; batches and threads change no bit; a compiled program
# gives the same text.
scores() { "$tfc" score wide --source valid.src --target "$1" --dtype "$2" >"$3"; }
# Whether the numbers of two files, a line each, are so many percent apart in their sums of differences.
near() {
    paste "$1" "$2" | awk -v most="$3" '{ d = $1 - $2; sum += d < 0 ? -d : d; all += $2 < 0 ? -$2 : $2 }
        END { exit !(NR > 0 && all > 0 && sum <= all * most / 100) }'
}
log_probabilities() { sed -n 's/.*"log_probability": \([-0-9.e]*\).*/\1/p'; }
scores valid.tgt f32 score.f32
scores valid.tgt bf16 score.bf16
cmp -s score.f32 score.bf16 && fail "scoring in bf16 computes in f32"
near score.bf16 score.f32 1 || fail "scores in bf16 are far from those in f32"
"$tfc" translate wide --input valid.src --dtype bf16 --beam 2 --length-penalty 0 --output half.out
"$tfc" translate wide --input valid.src --dtype bf16 --beam 2 --length-penalty 0 --json |
    log_probabilities >half.scores
scores half.out bf16 half.again
near half.scores half.again 1 || fail "a search's scores are not those of scoring in bf16"
"$tfc" translate wide --input valid.src --dtype bf16 --beam 2 --length-penalty 0 --json \
    --batch-tokens 8 --threads 1 | log_probabilities | cmp - half.scores || fail "scores in bf16 depend on the batch"
"$tfc" compile wide --dtype bf16 --cpu native --emit exe -o program
"$tfc" translate wide --input valid.src --dtype bf16 --output search
./program <valid.src | cmp - search || fail "a program compiled in bf16 translates otherwise"
"$tfc" bench model.tfg --mode decode --dtype bf16 --steps 1 >bench.out || fail "no bench of decoding in bf16"
