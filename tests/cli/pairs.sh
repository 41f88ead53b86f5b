#!/bin/sh
# Cross-encoders: tfc predict gives each pair of a table the score or the classes that the weights give in f64; training,
# evaluation, export and a compiled library of one.
# Usage: pairs.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
enter_work
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TFC_CACHE="$work/cache"
python3 "$root/tests/cli/pairs.py" "$tfc" "$root/tests/fixtures" ${short:+short}
