#!/bin/sh
# tfc tune: what is measured is kept and counts until it is renewed; what is damaged is measured
# again; and a run that is resumed multiplies as it began, or tells that it cannot.
# Usage: tune.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export TFC_CACHE="$work/cache"
# Code for an old processor, beside which OpenBLAS is often the faster one.
case $(uname -m) in x86_64) old="--cpu x86-64-v2" ;; *) old= ;; esac

# How many tables are kept.
tables() { { grep -la '^1 35 ' cache/*.tfcc || true; } 2>/dev/null | wc -l; }
are() { [ "$(tables)" -eq "$1" ] || fail "$2: $(tables) tables are kept, not $1"; }
tune() { "$tfc" tune "$@" >"$work/out" || fail "tune $*: exit status $?"; }

if [ -n "$short" ]; then # measured once, and kept
    tune
    [ "$(grep -c '^f32 .* \(native\|OpenBLAS\)$' out)" -eq 36 ] || fail "$(cat out)"
    cp out first
    tune
    cmp first out || fail "what is kept was measured again"
    are 1 "tune"
    refuses 1 "no CPU is called" "$tfc" tune --cpu pdp11
    exit 0
fi

# What only looks at programs, or tries them, does not measure; what multiplies does, once.
cat >model.tfg <<'END_OF_MODEL'
model backwards
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 8
train { optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9); rate = constant(0.01); batch = tokens(400) }
END_OF_MODEL
words_backwards
bench() { "$tfc" bench model.tfg --batch 2 --source-length 3 --target-length 3 --steps 1 "$@" >out 2>&1 || fail "bench"; }
"$tfc" dump model.tfg --stage plan >out
"$tfc" check model.tfg --samples 1 >out || fail "check"
bench --gemm native
bench --gemm blas
are 0 "dump, check, --gemm native, --gemm blas"
case $("$tfc" --version) in *"no fused multiply-add"*) ;; *) bench; are 0 "the default" ;; esac
bench --gemm auto
are 1 "the first use"

# The table: shown as it is kept, for each processor, and another one once it is renewed.
tune
cp out first
[ "$(grep -c '^f32 .* \(native\|OpenBLAS\)$' first)" -eq 36 ] || fail "$(cat first)"
[ "$(grep -c '^f64 .* \(native\|OpenBLAS\)$' first)" -eq 36 ] || fail "$(cat first)"
grep -q '^f32   65+     129+     129+ ' first || fail "$(cat first)"
tune
cmp first out || fail "what is kept was measured again"
tune --json
grep -q '"kept": true' out || fail "$(cat out)"
[ "$(grep -c '"choice": "\(native\|blas\)"' out)" -eq 72 ] || fail "$(cat out)"
tune --renew
! cmp -s first out || fail "--renew measured nothing"
cp out renewed
tune
cmp renewed out || fail "what was renewed is not kept"
are 1 "--renew"
# shellcheck disable=SC2086  # two words or none
tune $old
[ -z "$old" ] || are 2 "$old"
refuses 1 "no CPU is called" "$tfc" tune --cpu pdp11
refuses 2 "" "$tfc" tune model.tfg

# Damage, and nowhere to keep anything.
for file in $(grep -la '^1 35 ' cache/*.tfcc); do
    sed -i 's/^1 35 .*/1 35 1 9/' "$file"
done
tune
! cmp -s renewed out || fail "a table with a changed line was believed"
TFC_CACHE=off tune
grep -q '^not kept, so --gemm auto is native .*TFC_CACHE is off' out || fail "$(cat out)"
TFC_CACHE=off tune --json
grep -q '"kept": false' out || fail "$(cat out)"

# A run goes on with the choice it began with, though by now all would be native.
train() {
    out=$1
    shift
    # shellcheck disable=SC2086
    "$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --out "$out" $old "$@" \
        2>"$out.err" || fail "$out: $(cat "$out.err")"
}
train whole --steps 12
train parts --steps 6
grep -q '"products": "native' parts/run.json || fail "no products in run.json"
cp parts/run.json began.json
TFC_CACHE=off "$tfc" train parts --resume --steps 12 2>err || fail "$(cat err)"
same_tensors whole/last.safetensors parts/last.safetensors "resumed without the table"
[ "$(grep '"products"' began.json)" = "$(grep '"products"' parts/run.json)" ] || fail "$(cat parts/run.json)"

# What another OpenBLAS multiplied cannot be gone on with unnoticed.
sed -i 's/"products": .*/"products": "native, and OpenBLAS 0.0.1 None for shapes 1 of f32, 0 of f64",/' parts/run.json
refuses 1 "products: it was native, and OpenBLAS 0.0.1 None for shapes 1 of f32.* and is now native" \
    "$tfc" train parts --resume --steps 14
"$tfc" train parts --resume --steps 14 --allow-change 2>err || fail "$(cat err)"
! grep -q 'OpenBLAS 0.0.1' parts/run.json || fail "the choice of before is still recorded"
"$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --out blas --steps 2 \
    --gemm blas 2>err || fail "$(cat err)"
grep -q '"products": "OpenBLAS [0-9.]* ' blas/run.json || fail "$(cat blas/run.json)"
echo "all is well"
