#!/bin/sh
# tfc bug-report: versions, the model and its IR, also of a run and of a model with errors; nothing of the
# texts, of folders' names or of other variables.
# Usage: bug_report.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# has PATTERN, lacks PATTERN: the report in `out`
has() { grep -q -- "$1" out || fail "no '$1' in: $(cat out)"; }
lacks() { ! grep -q -- "$1" out || fail "'$1' is in: $(cat out)"; }

TFC_CACHE=/home/somebody OMP_DYNAMIC=false PASSPHRASE=quiet "$tfc" bug-report >out 2>err || fail "$(cat err)"
has "^$("$tfc" --version | head -n 1)$"
has '^commit  *\([0-9a-f]\{12\}\|unknown\)'
has '^LLVM  *19'
has '^variable    TFC_CACHE (a path)$'
has '^variable    OMP_DYNAMIC=false$'
lacks somebody
lacks quiet
lacks 'IR of the model'

mkdir secret
cat >secret/model.tfg <<'END'
model words
use transformer
const layers = 1, d_model = 32, d_ff = 64, heads = 4, vocab = 8, p_drop = 0
train { rate = constant(0.003); batch = tokens(400) }
END
words_backwards
sed -i 's/a/wordofmine/g' train.src train.tgt
"$tfc" train secret/model.tfg --source train.src --target train.tgt --vocab words:auto --out run --steps 2 2>err || fail "$(cat err)"
for model in "secret/model.tfg --set layers=2" run; do
    # shellcheck disable=SC2086  # an argument and options
    "$tfc" bug-report $model -o out 2>err || fail "$(cat err)"
    has '^### model.tfg$'
    has '^use transformer$'
    has '^module "words"'
    lacks 'block attention' # the library's text is the version's
    lacks wordofmine
    lacks secret
done
has '^vocab=' # the run's setting
"$tfc" dump run --stage graph >ir 2>err || fail "$(cat err)"
sed -n '/^module/,/^```/p' out | sed '$d' | cmp - ir || fail "the IR is not that of tfc dump"

# The library's folder is no beginning of another folder's name; a fence within the text ends nothing.
mkdir library
cp -r "$root/models/lib" lib
printf '# ```\n# ~~~~\nmodel words\nuse "library/mine.tfg"\n' >own.tfg
printf 'use transformer\nconst layers = 1, d_model = 32, d_ff = 64, heads = 4, vocab = 8, p_drop = 0\n' >library/mine.tfg
TFC_LIBRARY=lib "$tfc" bug-report own.tfg >out 2>err || fail "a file of the model's: $(cat err)"
has '^### mine.tfg$'
has '^````$'
lacks 'block attention'

echo 'input x : f32[B, 3' >>secret/model.tfg
"$tfc" bug-report secret/model.tfg -o out 2>err || fail "a model with errors: $(cat err)"
has '^### What tfc says about the model$'
has 'model.tfg:5:.*error'
has '^use transformer$'
lacks '^module "words"'

refuses 1 "cannot read nothing.tfg" "$tfc" bug-report nothing.tfg
refuses 1 "nowhere" "$tfc" bug-report -o nowhere/report.md
refuses 2 "too many\|at most\|argument" "$tfc" bug-report a b
echo "all is well"
