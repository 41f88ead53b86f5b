#!/bin/sh
# Vectors of texts as sentence-transformers' folders say: every way of pooling, several at once, layers behind it, prompts;
# exported, trained and compiled.
# Usage: pooling.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
enter_work
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TFC_CACHE="$work/cache"
library=library
[ -z "${TFC_RUNTIME:-}" ] || library='' # an instrumented library is loaded by instrumented programs alone
python3 "$root/tests/cli/pooling.py" "$tfc" "$root/tests/fixtures" $library ${short:+short}
