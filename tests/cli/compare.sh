#!/bin/sh
# The parts of bench/compare that need no PyTorch: blocks of tfc and of a child that serves
# steps, the machine watched meanwhile, and real batches.
# Usage: compare.sh TFC   (from the project's root)
set -eu
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
. tests/common.sh
export PYTHONPATH=bench/speed PYTHONDONTWRITEBYTECODE=1 TFC="$tfc" WORK="$work"

bench/compare --help >"$work/help"
grep -q -- --gemm-only "$work/help"
status=0
bench/compare --models X 2>"$work/err" || status=$?
[ $status = 2 ] && grep -q 'no X; there are T, S, B' "$work/err"

i=0
while [ $i -lt 3000 ]; do # lengths of 2 to 12 and 2 to 14 with their ends
    printf 'a%.0s ' $(seq $((i * 7 % 11 + 1))) >>"$work/train.en"
    printf 'b%.0s ' $(seq $((i * 5 % 13 + 1))) >>"$work/train.de"
    echo >>"$work/train.en"
    echo >>"$work/train.de"
    i=$((i + 100))
done
cat >"$work/child.py" <<'END'
import time
from serve import serve
serve(lambda i: time.sleep(0.01), [5, 15])
END
python3 - <<'END'
import os, sys
from batches import padding, real_batches, write
from contest import Race, Variant
from sides import Child, Failed, Tfc
from tables import table

work, small = os.environ["WORK"], "vocab=40 layers=1 d_model=32 d_ff=64 heads=2".split()
batches = real_batches(work, 60, 100)
assert sum(map(len, batches)) == 30 and 0 < padding(batches) < 0.6, batches
assert all(max(map(sum, zip(*batch))) <= 60 for batch in batches), batches
write(batches, f"{work}/lengths")

arguments = [word for pair in small for word in ["--set", pair]] + ["--lengths", f"{work}/lengths"]
tfc = Tfc(os.environ["TFC"], "models/transformer_base.tfg", arguments, {}, len(batches))
child = Variant(["sleeper"], "f32", [sys.executable, f"{work}/child.py"])
race = Race(2, 1, {"f32": tfc}, [child])
assert race.speed("f32") > 0 and 300 < race.speed("sleeper") < 1000.5, race.blocks
assert race.fastest([child]) == "sleeper"
assert race.memory("f32") > 1e6 and race.memory("sleeper") > 1e6
assert 0 <= race.disturbed() <= 1
assert table(["a", "b"], [[1, 2]]) == "| a | b |\n| --- | --: |\n| 1 | 2 |"
for broken in [lambda: Tfc(os.environ["TFC"], "no.tfg", [], {}, 1).block(1),
               lambda: Child([sys.executable, "-c", "raise SystemExit('torn')"])]:
    try:
        broken()
    except Failed as failure:
        assert "no.tfg" in str(failure) or "torn" in str(failure), failure
    else:
        raise AssertionError("it should have failed")
END
