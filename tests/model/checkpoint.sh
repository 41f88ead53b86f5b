#!/bin/sh
# Training through a compiled library: saved and opened again it goes on bit for bit, and
# its checkpoints are those of tfc train, both ways; what is no checkpoint is told.
# Usage: checkpoint.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export LD_LIBRARY_PATH="$work"

cat >pairs.tfg <<'END'
model pairs
use transformer
const layers = 1, d_model = 32, d_ff = 64, heads = 4, vocab = 8
const p_drop = 0.3
train {
  optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9)
  rate      = constant(0.01)
  clip_norm = 1
}
END
"$tfc" compile pairs.tfg -o libpairs.so
$CC "$root/tests/model/resume.c" -o resume -I. -I"$root/tests/model" -L. -lpairs

# 20 steps are 10, a file, and 10.
./resume new 5 20 straight.safetensors various >straight.txt
./resume new 5 10 half.safetensors various >parts.txt
./resume half.safetensors 5 10 joined.safetensors various >>parts.txt
cmp straight.txt parts.txt || fail "losses after opening again"
cmp straight.safetensors joined.safetensors || fail "params or optimizer after opening again"
./resume half.safetensors 6 10 other.safetensors various >/dev/null
! cmp -s straight.safetensors other.safetensors || fail "the seed of dropout changes nothing"

# tfc train's checkpoint, ten steps on: tfc train's own of step 20.
for i in 1 2 3 4; do
    echo a b c >>text.src
    echo c b a d >>text.tgt
done
printf '%s\n' '<pad>' '<unk>' '<s>' '</s>' a b c d >words.txt
train() {
    out=$1
    shift
    "$tfc" train pairs.tfg --source text.src --target text.tgt --vocab words:words.txt --out "$out" --seed 3 \
        --batch-sentences 4 --save-every 10 --gemm native "$@" 2>"$out.err" || fail "$(cat "$out.err")"
}
train run --steps 20
./resume run/step-10.safetensors 3 10 onward.safetensors pair >onward.txt
[ "$(head -n 1 onward.txt | cut -d ' ' -f 1)" = 11 ] || fail "the first step is not 11: $(cat onward.txt)"
same_tensors onward.safetensors run/step-20.safetensors "tfc train's checkpoint, continued by the library"

# … and the library's, continued by tfc train.
cp -r run mixed
cp onward.safetensors mixed/last.safetensors
train run --steps 30 --resume
train mixed --steps 30 --resume
same_tensors run/step-30.safetensors mixed/step-30.safetensors "the library's checkpoint, continued by tfc train"
./resume new 3 30 new.safetensors pair >new.txt
same_tensors run/step-30.safetensors new.safetensors "thirty steps of tfc train and of the library"

# refused PATTERN FROM: open_checkpoint gives ERROR_WEIGHTS
refused() {
    refuses 13 "$1" ./resume "$2" 1 1 never.safetensors pair
    [ ! -e never.safetensors ] || fail "$2: something was saved"
}
./resume new 1 0 initial.safetensors pair
refused "is missing" initial.safetensors # no optimizer yet
refused "absent.safetensors" absent.safetensors
head -c 5000 half.safetensors >short.safetensors
refused "short.safetensors" short.safetensors
printf '\002\000\000\000\000\000\000\000{}' >empty.safetensors
refused "not a checkpoint" empty.safetensors
LC_ALL=C sed 's/"step":"10"/"step":"-1"/' half.safetensors >damaged.safetensors
refused "damaged: the checksum of its header" damaged.safetensors
LC_ALL=C sed 's/"xxh64_blocks"/"other_blocks"/' damaged.safetensors >negative.safetensors
refused "negative" negative.safetensors

# A step whose gradient is no number changes nothing and says so; its neighbours do.
cat >pairs.tfg <<'END'
model pairs
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8
param w : [8] = zeros
loss = cross_entropy(logits, next(tgt), label_smoothing = smoothing) + sqrt(sum(w * w))
train { optimizer = adam() }
END
"$tfc" compile pairs.tfg -o libpairs.so
$CC "$root/tests/model/resume.c" -o numbers -I. -I"$root/tests/model" -L. -lpairs
refuses 19 "step 1: gradient_norm is not a number; the first NaN was made by 'optimizer.w" \
    ./numbers new 1 1 never.safetensors pair
./numbers new 1 -1 once.safetensors pair # one step, whose failure does not count
./numbers once.safetensors 1 -1 twice.safetensors pair
mkdir steep
sed 's/sqrt(sum(w \* w))/3e38 * sum(w)/' pairs.tfg >steep/pairs.tfg
"$tfc" compile steep/pairs.tfg -o steep/libsteep.so
$CC "$root/tests/model/resume.c" -o steep/numbers -Isteep -I"$root/tests/model" -Lsteep -lsteep -Wl,-rpath,"$PWD/steep"
refuses 19 "step 1: gradient_norm is infinite; the update would leave f32's range" \
    steep/numbers new 1 1 never.safetensors pair
same_tensors once.safetensors twice.safetensors "a step without a finite gradient has changed params"
echo "all is well"
