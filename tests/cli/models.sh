#!/bin/sh
# `tfc check` on every model in models/, and the names that `tfc bench --json` prints.
# Usage: models.sh TFC   (from the project's root)
set -u
. tests/common.sh
status=0
set -- models/*.tfg
[ -z "$short" ] || set -- models/multi30k_tiny.tfg models/llama.tfg models/bert.tfg
for model in "$@"; do
    echo "$model"
    "$tfc" check "$model" --samples 3 | sed 's/^/  /' >"$work/out" 2>&1
    grep -v '^  ok' "$work/out"
    if grep -q FAILED "$work/out" || ! grep -q '^  ok .*gradients' "$work/out"; then
        status=1
    fi
done

names="model mode dtype threads batch source_length target_length steps step_seconds_median
step_seconds_min tokens_per_second flops_per_second compile_seconds compiled_kernels
params planned_peak_bytes resident_peak_bytes"
small="--set vocab=50 --set layers=1 --set d_model=16 --set d_ff=32 --set heads=2"
for mode in train forward decode; do
    out=$("$tfc" bench models/multi30k_tiny.tfg $small --mode $mode --batch 3 --source-length 4 \
        --target-length 5 --steps 2 --json) || status=1
    for name in $names; do
        case $out in
        *"\"$name\": "*) ;;
        *) echo "bench --mode $mode --json has no $name: $out"; status=1 ;;
        esac
    done
done
exit $status
