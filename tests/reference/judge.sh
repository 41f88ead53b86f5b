#!/bin/sh
# A judge beside tfc: a thousand random models, computed in f64 by tfc and by PyTorch, with all gradients
# (tests/reference/judge/judge.py). JUDGE_MODELS: how many; JUDGE_FIRST: the number of the first.
# Usage: judge.sh TFC   (from the project's root)
set -eu
python=
for name in /usr/bin/python3 python3; do
    if "$name" -c 'import torch' 2>/dev/null; then python=$name && break; fi
done
[ -n "$python" ] || { echo "skipped: no PyTorch; scripts/setup --reference installs Debian's"; exit 77; }
exec "$python" tests/reference/judge/judge.py "$1" --first "${JUDGE_FIRST:-0}" --count "${JUDGE_MODELS:-1000}"
