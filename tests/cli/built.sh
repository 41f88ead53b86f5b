#!/bin/sh
# What each builder of codegen/emit builds, as loop IR before the passes: golden text. Each model of
# tests/golden/loop/built says in "# RUN: OPTIONS" how it is dumped, in "# KEEP: NAMES" which functions NAME.out has
# (all, where it says nothing), and in "# OF: MODEL" which model is meant where it is not this file.
# TFC_UPDATE=1 writes NAME.out.   Usage: built.sh TFC   (from the project's root)
set -u
. tests/common.sh
failed=0

# The functions of the names given, of kernels without their hash.
keep() {
    sed 's/^\(kernel @[a-z_]*\)\.[0-9a-f]*(/\1(/' | awk -v names="$1" '
    BEGIN { n = split(names, list, " "); for (i = 1; i <= n; i++) wanted[list[i]] = 1 }
    /^(kernel|function|record) @/ {
        name = $2; sub(/^@/, "", name); sub(/\(.*/, "", name)
        shown = n == 0 || name in wanted
        found[name] = 1
    }
    shown
    END { for (name in wanted) if (!(name in found)) { print "there is no " name; exit 1 } }'
}

for file in tests/golden/loop/built/*.tfg; do
    options=$(sed -n 's/^# RUN: //p' "$file") of=$(sed -n 's/^# OF: //p' "$file") want=${file%.tfg}.out
    # shellcheck disable=SC2086  # options are words
    "$tfc" dump "${of:-$file}" --stage loops --after built --cpu x86-64-v3 $options >"$work/all" 2>"$work/errors" &&
        keep "$(sed -n 's/^# KEEP: //p' "$file")" <"$work/all" >"$work/out" && test -s "$work/out" || {
        echo "FAILED: $file: $(head -n 1 "$work/errors") $(tail -n 1 "$work/out")"
        failed=1
        continue
    }
    [ -z "${TFC_UPDATE:-}" ] || cp "$work/out" "$want"
    cmp -s "$work/out" "$want" || {
        echo "FAILED: $file (TFC_UPDATE=1 writes $want)"
        diff "$want" "$work/out" | head -n 10
        failed=1
    }
done
[ $failed = 0 ] && echo "all is well"
exit $failed
