#!/bin/sh
# A call that fails, or a kill, in each command that writes: allocations and calls on files of tfc's own code fail in turn
# (fail_calls.c), at places chosen by $SEED, and the process is killed at such places and at random moments.
# Usage: [FAULTS=500 KILLS=1000 SEED=1] faults_kills.sh TFC [COMMAND]   (from the project's root)
set -eu
. tests/common.sh
enter_work
if [ -n "$short" ]; then : "${FAULTS:=9}" "${KILLS:=9}"; fi
"${CC%% *}" -shared -fPIC -O1 -o fail_calls.so "$root/tests/cli/fail_calls.c"

mkdir in
cd in
backwards_model | sed 's/d_model = 32, d_ff = 1100, heads = 2/d_model = 8, d_ff = 8, heads = 1/' >m.tfg
words_backwards
head -n 40 train.src >t.src
head -n 40 train.tgt >t.tgt
"$tfc" train m.tfg --source t.src --target t.tgt --vocab words:auto --steps 4 --out run 2>err.txt || fail "$(cat err.txt)"
. "$root/tests/published.sh"
published_marian published
"$tfc" import published -o imported 2>err.txt || fail "$(cat err.txt)"
cd ..
python3 "$root/tests/cli/faults_kills.py" "$tfc" "$work/fail_calls.so" "${FAULTS:-500}" "${KILLS:-1000}" "${SEED:-1}" ${2:+"$2"} ||
    fail "see above"
echo "all is well"
