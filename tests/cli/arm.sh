#!/bin/sh
# tfc built for AArch64, under an emulator: it trains, translates and checks kernels as this
# system's does. Says 77 where "scripts/setup --arm" has not been run.
# Usage: arm.sh TFC   (from the project's root)
set -eu
. tests/common.sh

sysroot=$root/build/arm64-root
for need in aarch64-linux-gnu-g++ qemu-aarch64; do
    command -v $need >/dev/null || { echo "skipped: there is no $need (scripts/setup --arm)"; exit 77; }
done
[ -e "$sysroot/complete" ] || { echo "skipped: there is no build/arm64-root (scripts/setup --arm)"; exit 77; }

cmake --preset arm64 >"$work/build.txt" 2>&1 && cmake --build --preset arm64 >>"$work/build.txt" 2>&1 ||
    fail "the build: $(tail -n 30 "$work/build.txt")"
# arm PROCESSOR ARGUMENTS …
neon=max,sve=off sve=max,sve256=on
arm() { on=$1; shift; qemu-aarch64 -cpu $on -L "$sysroot" "$root/build/arm64/tfc" "$@"; }

enter_work
backwards_with 0.1 "layers = 1, d_model = 32, d_ff = 64, heads = 4" >model.tfg <<'END'
train {
  rate  = inverse_sqrt(peak = 0.01, warmup = 40)
  batch = tokens(400)
}
END
words_backwards
common="train model.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --report-every 1"
# shellcheck disable=SC2086  # a list of words
"$tfc" $common --steps 200 --out here 2>here.err || fail "training here: $(cat here.err)"
head -n 20 valid.src >some.src
losses() { sed -n 's/^step \([0-9]*\).* loss \([0-9.]*\).*/\1 \2/p' "$1" | head -n 20; }
losses here.err >here.losses
for cpu in $neon $sve; do
    # shellcheck disable=SC2086
    arm $cpu $common --steps 20 --out $cpu 2>arm.err || fail "training on AArch64, $cpu: $(cat arm.err)"
    losses arm.err >arm.losses
    paste here.losses arm.losses | awk -v cpu=$cpu '
        { d = $2 - $4; if (d < 0) d = -d; if (d > most) most = d; bad += $1 != $3 || d > 2e-4 }
        END { printf "%s: 20 losses differ by %g at most\n", cpu, most; exit !(NR == 20 && !bad) }' ||
        fail "other losses: $(paste here.losses arm.losses)"
    for beam in 1 4; do
        "$tfc" translate here --beam $beam --input some.src >here.txt
        arm $cpu translate here --beam $beam --input some.src | cmp - here.txt ||
            fail "other translations, beam $beam, $cpu"
    done
done
[ "$(wc -w <here.txt)" -gt 20 ] || fail "nothing was translated"

arm $sve check model.tfg >check.txt 2>&1 || fail "kernels differ from the reference: $(cat check.txt)"
refuses 1 'this machine (.*) cannot run code for "apple-m1"' arm $neon check model.tfg --cpu apple-m1
refuses 1 'cannot run code for "neoverse-v1"' arm $neon check model.tfg --cpu neoverse-v1
