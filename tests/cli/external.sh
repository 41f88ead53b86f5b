#!/bin/sh
# ONNX models with their tensors in other files: read where these lie beside the model; hostile names, offsets and lengths.
# Usage: external.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
enter_work
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TFC_CACHE="$work/cache"
python3 "$root/tests/cli/external.py" "$tfc" "$root/tests/fixtures"
