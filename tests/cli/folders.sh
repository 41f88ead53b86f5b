#!/bin/sh
# Published folders (a row of tests/cli/folders.py each): of every family as transformers 4 and as transformers 5 write it,
# with what trainers leave in config.json; values that are read, warned of, or refused by name; tokenizers as lists.
# Usage: folders.sh TFC   (from the project's root)
set -eu
. tests/common.sh
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
enter_work
export OMP_NUM_THREADS=1 TFC_CACHE="$work/cache"
python3 "$root/tests/cli/folders.py" "$tfc" "$root/tests/fixtures" ${short:+short}
