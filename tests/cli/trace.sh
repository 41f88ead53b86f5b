#!/bin/sh
# --trace on train, translate and bench, and bench --report.
# Usage: trace.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

# Braces that balance, so many dropped slices, and every word given: a trace.
is_trace() {
    file=$1
    shift
    [ -s "$file" ] || fail "$file is not there"
    awk '{ a += gsub(/{/, "{"); b += gsub(/}/, "}") } END { exit !(a == b && a > 20) }' "$file" ||
        fail "$file: braces"
    head -n 1 "$file" | grep -q '"dropped": 0}' || fail "$file: slices were dropped"
    [ "$(tail -n 1 "$file")" = "]}" ] || fail "$file has no end"
    for word in "$@"; do
        grep -q "$word" "$file" || fail "$file: no $word"
    done
}

cat >model.tfg <<'END'
model small
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 12
END
for i in 1 2 3 4 5 6 7 8; do
    echo "a b c $i"
    echo "$i d"
done >text.txt

"$tfc" train model.tfg --source text.txt --target text.txt --vocab words:auto --out run --steps 6 \
    --valid-source text.txt --valid-target text.txt --trace train.json 2>train.err || fail "$(cat train.err)"
is_trace train.json '"load data"' '"prepare"' '"load batch"' '"validate"' '"save checkpoint"' '"train_step"' \
    '"cat": "kernel"' '"cat": "product".*"flops": [1-9]' '"bytes": [1-9]' '"shape": "[0-9]* x [0-9]* x [0-9]*'
[ "$(grep -c '"name": "train_step"' train.json)" = 6 ] || fail "not a span for each step"

"$tfc" translate run --input text.txt --trace translate.json >with.txt
"$tfc" translate run --input text.txt >without.txt
cmp with.txt without.txt || fail "a trace changes what is translated"
is_trace translate.json '"read input"' '"encode"' '"decode_step"' '"decode batch"' '"write output"'

"$tfc" bench model.tfg --batch 2 --source-length 5 --target-length 5 --steps 3 --report --trace bench.json >bench.txt
is_trace bench.json '"train_step"'
[ "$(grep -c '"name": "train_step"' bench.json)" = 3 ] || fail "bench: not a span for each measured step"
awk '$2 == "%" { sum += $1 } END { exit !(sum > 95 && sum < 105) }' bench.txt || fail "shares: $(cat bench.txt)"
grep -q 'product .* dot' bench.txt || fail "bench --report: $(cat bench.txt)"
"$tfc" bench model.tfg --mode decode --batch 2 --target-length 4 --steps 1 --report --json >bench.out
grep -q '"kernels": \[{"kernel": ".*"calls": [1-9]' bench.out || fail "bench --json --report: $(cat bench.out)"

# Told before any work is done.
refuses 1 'cannot write nowhere/trace.json' "$tfc" train model.tfg --source text.txt --target text.txt \
    --vocab words:auto --out other --steps 6 --trace nowhere/trace.json
[ ! -e other ] || fail "a run without its trace"
ls | grep tmp && fail "a temporary file is left"
echo "all is well"
