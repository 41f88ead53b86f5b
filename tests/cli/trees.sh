#!/bin/sh
# The order of sums, found from results by bench/bits/trees, is the documented one as x86-64-v3, as this machine and, in the
# long form, with NEON; an order that is documented otherwise is noticed.
# Usage: trees.sh TFC   (from the project's root)
set -eu
. tests/common.sh
if [ "$(uname -m)" != x86_64 ] || "$tfc" --version | grep -q 'no fused multiply-add'; then
    echo "skipped: this machine does not run x86-64-v3"
    exit 77
fi
enter_work
trees() { "$root/bench/bits/trees" "$@" "$tfc" >out 2>&1 || fail "$*: $(cat out)"; cat out; }
shows() { tr -s ' ' <out | grep -qxF "$1" || fail "no line '$1': $(cat out)"; }

trees --only x86-64-v3,native --terms 7,300
shows 'sum-columns 7 2/4 + (2/4) + (2/4 + 1)'
shows 'sum-rows 300 16 + 15(16) + (16 + (16) + (12))'
shows 'product 300 256 + (44)'

# Another order is another tree.
mkdir other
cp "$root"/bench/bits/trees* other
sed -i 's/PASS = 256/PASS = 128/' other/trees.c
! other/trees --only native --terms 300 "$tfc" >out 2>&1 || fail "passes of 128 terms were found: $(cat out)"
shows 'product 300 documented: 128 + (128) + (44)'
shows 'trees: 300 terms, native: not the documented trees'

[ -z "$short" ] || exit 0
trees --terms 7,16,33,256,300
trees --only x86-64-v3,native --terms 600,5000
