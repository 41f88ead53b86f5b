#!/bin/sh
# Patterns that stages of compilation must match, by LLVM's FileCheck. Each model of
# tests/golden/codegen says in lines "# RUN(PREFIX): OPTIONS" how it is dumped, and in
# lines "# PREFIX: pattern" what must be there.
# Usage: filecheck.sh TFC   (from the project's root)
set -u
. tests/common.sh
export TFC_LIBRARY="$root/models/lib"
check=$(command -v FileCheck-19 || echo /usr/lib/llvm-19/bin/FileCheck)
failed=0 runs=0

for file in tests/golden/codegen/*.tfg; do
    sed -n 's/^# RUN(\([A-Z0-9]*\)): \(.*\)/\1 \2/p' "$file" >"$work/runs"
    while read -r prefix options; do
        runs=$((runs + 1))
        # shellcheck disable=SC2086  # options are words
        if ! "$tfc" dump "$file" $options >"$work/out" 2>"$work/err"; then
            echo "$file: tfc dump $options failed:"
            cat "$work/err"
            failed=$((failed + 1))
        elif ! "$check" --check-prefix="$prefix" "$file" <"$work/out" >"$work/err" 2>&1; then
            echo "$file, $prefix: tfc dump $options"
            cat "$work/err"
            failed=$((failed + 1))
        fi
    done <"$work/runs"
done
echo "$runs dumps, $failed wrong"
[ "$failed" = 0 ] && [ "$runs" -gt 0 ]
