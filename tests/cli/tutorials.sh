#!/bin/sh
# Follows each tutorial of docs/tutorials as a reader does: its blocks of commands ("```sh") are run one
# after the other in a folder that was empty, and what the page shows of a command (docs.sh tells the two
# forms) is what it prints there. Marks that a reader does not see tell what is different here:
#
#     <!-- test: --minutes 10 -> --steps 40 -->   from here on, in blocks: a shorter training
#     <!-- test: skip -->                         the next block is not run: it installs packages
#     <!-- test: file gated.tfg -->               the next block is this file
#     <!-- test: needs /usr/share/trans/de-en --> where this file or command is absent, the tutorial is not
#                                                 followed
#     <!-- test: shown with trans-de-en 1.9-6 --> where that package has another version, what is shown is
#                                                 not compared
#
# Each block is run by its own sh, so that "cd" lasts a block.
# Usage: tutorials.sh TFC [NAME…]   (from the project's root; TFC_UPDATE=1 rewrites what pages show)
set -eu
. tests/common.sh
work=$(realpath "$work")
shift
PATH=$(dirname "$tfc"):$PATH
export PATH
followed=0 failed= absent=
for page in "$root"/docs/tutorials/*.md; do
    name=$(basename "$page" .md)
    [ $# = 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    grep -q '^```sh$' "$page" || continue
    missing=
    for need in $(sed -n 's/^<!-- test: needs \(.*\) -->$/\1/p' "$page"); do
        [ -e "$need" ] || command -v "$need" >/dev/null || missing="$missing $need"
    done
    if [ -n "$missing" ]; then
        echo "docs/tutorials/$name.md was not followed: no$missing (scripts/setup --tests)"
        absent=yes
        continue
    fi
    compared=yes
    package=$(sed -n 's/^<!-- test: shown with \(.*\) -->$/\1/p' "$page")
    # shellcheck disable=SC2016  # dpkg's variables
    [ -z "$package" ] || [ "$package" = "$(dpkg-query -W -f '${Package} ${Version}' "${package% *}" 2>/dev/null)" ] ||
        compared=
    mkdir "$work/$name"
    cd "$work/$name"
    awk -v blocks=1 -v work="$work" -f "$root/tests/pages.awk" "$page" >"$work/page" || failed="$failed $name"
    followed=$((followed + 1))
    if [ -z "$compared" ]; then
        echo "docs/tutorials/$name.md: what it shows was not compared: it is of $package"
    elif [ -n "${TFC_UPDATE:-}" ]; then
        [ -n "$failed" ] || cmp -s "$work/page" "$page" || cat "$work/page" >"$page"
    elif ! diff -u "$page" "$work/page" | head -n 60 >"$work/diff" || [ -s "$work/diff" ]; then
        cat "$work/diff" >&2
        failed="$failed $name"
    fi
    cd "$root"
    rm -rf "${work:?}/$name"
done
[ -z "$failed" ] || fail "$failed"
[ -z "$absent" ] || [ $followed -gt 0 ] || exit 77
[ $followed -gt 0 ] || fail "there is no tutorial"
echo "all is well"
