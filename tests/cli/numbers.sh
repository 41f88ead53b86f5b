#!/bin/sh
# The version of the numbers (base/numbers.h): a training whose bits are common has the params that the golden file has
# for this version. Where a change of tfc changes them, NUMBERS_VERSION is raised, and TFC_UPDATE=1 rewrites the file.
# Usage: numbers.sh TFC   (from the project's root)
set -eu
. tests/common.sh
golden=$root/tests/golden/cli/numbers.txt
enter_work
"$tfc" --version | grep -q '^bits  *common' || { echo "the bits are this processor's own"; exit 0; }
backwards_model >model.tfg
words_backwards
for dtype in f32 bf16; do
    if [ $dtype = f32 ] || "$tfc" --version | grep -q '^bits  *common$'; then
        "$tfc" train model.tfg --source train.src --target train.tgt --vocab words:auto --seed 3 --gemm native --steps 3 \
            --dtype $dtype -o $dtype 2>err.txt || fail "$dtype: $(cat err.txt)"
        version=$(sed -n 's/.*"numbers": "\([0-9]*\)".*/\1/p' $dtype/run.json)
        echo "numbers of version $version, $dtype: $("$tfc" info $dtype --hash)"
    fi
done >said.txt
if [ -n "${TFC_UPDATE:-}" ]; then
    cp said.txt "$golden"
fi
while read -r line; do
    grep -qxF "$line" "$golden" && continue
    echo "other params than those of $golden, or another version:" >&2
    fail "$line; raise NUMBERS_VERSION (base/numbers.h) where the bits are meant to change, then TFC_UPDATE=1"
done <said.txt
echo "all is well"
