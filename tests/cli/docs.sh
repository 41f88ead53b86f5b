#!/bin/sh
# The documentation says what the program does: what a page shows of a command is what the
# command prints, and the options, files and links that it names are there.
# Usage: docs.sh TFC   (from the project's root; TFC_UPDATE=1 rewrites what pages show)
#
# A page shows a command's output in one of two forms. A fenced block, word by word:
#
#     <!-- shown: tfc dump models/gpt.tfg --stage graph | grep softmax -->
#     ```
#     %31 = softmax …
#     ```
#
# or a part of a sentence or table, up to the mark of its end, where line breaks and the
# number of blanks do not matter:
#
#     a library of <!-- shown: tfc … | awk … -->0.94 MB<!-- end --> that needs …
#
# The command is one line of sh, which a page may break where a blank is, run from the project's
# root with tfc in PATH; $work is a folder for its files. It cuts its output as the page does
# (grep, sed, head), has to be quick, and must not depend on the processor: --cpu x86-64-v3.
# One that several places share is run once a page.
set -eu
. tests/common.sh
work=$(realpath "$work")
PATH=$(dirname "$tfc"):$PATH
export PATH work
pages=$(ls README.md docs/*.md docs/tutorials/*.md bench/README.md)

# Files and folders of the project that a page names. A name in capitals and "*" stand for any.
cat >"$work/names.awk" <<'END'
{
    gsub(/[^A-Za-z0-9_.\/*-]+/, " ")
    for (i = 1; i <= NF; i++)
        if ($i ~ /^(base|bench|check|cli|cmake|codegen|docs|driver|editors|examples|frontend|inspect|ir|models|passes|runtime|scripts|tests)\/[A-Za-z]/) {
            gsub(/[A-Z][A-Z]+/, "*", $i)
            sub(/[.*]+$/, "", $i)
            print $i
        }
}
END

# The options of "tfc COMMAND --option …" on a line of a block or between backticks, as
# "COMMAND --option" lines.
cat >"$work/options.awk" <<'END'
BEGIN { RS = "\001" }
{
    gsub(/\\\n/, " ")
    n = split($0, parts, /\n```[^\n]*\n/)
    for (i = 1; i <= n; i++) # in turn prose and blocks
        if (i % 2) {
            gsub(/\n/, " ", parts[i])
            m = split(parts[i], spans, "`")
            for (k = 2; k <= m; k += 2) tell(spans[k])
        } else {
            m = split(parts[i], spans, "\n")
            for (k = 1; k <= m; k++) tell(spans[k])
        }
}
function tell(line,    w, words, count) {
    sub(/#.*/, "", line)
    count = split(line, words, " ")
    for (w = 1; w <= count && words[w] != "tfc"; w++) {}
    if (words[w + 1] !~ /^[a-z]+$/) return
    for (; w <= count; w++)
        if (words[w] == "tfc" && words[w + 1] ~ /^[a-z]+$/) line = words[w + 1] # launch has another
        else if (match(words[w], /--[a-z-]+/)) print line, substr(words[w], RSTART, RLENGTH)
}
END

complain() { echo "FAILED: $*" >&2; failed=yes; }
failed=
compare() {
    awk -v work="$work" -f tests/pages.awk "$1" >"$work/page" || complain "$1"
    if [ -n "${TFC_UPDATE:-}" ]; then
        [ -n "$failed" ] || cmp -s "$work/page" "$1" || cat "$work/page" >"$1"
    else
        diff -u "$1" "$work/page" >"$work/diff" ||
            complain "$1 (TFC_UPDATE=1 rewrites what it shows): $(head -n 60 "$work/diff" | cut -c 1-400)"
    fi
}
for page in $pages; do
    case $page in docs/tutorials/*) ;; *) compare "$page" ;; esac # tutorials.sh follows those

    awk -f "$work/names.awk" "$page" | sort -u >"$work/names"
    while read -r name; do
        # shellcheck disable=SC2086  # a pattern
        ls -d ${name%/} >/dev/null 2>&1 || complain "$page: $name does not exist"
    done <"$work/names"
    dead_links "$page" >"$work/dead"
    [ ! -s "$work/dead" ] || complain "$(cat "$work/dead")"

    awk -f "$work/options.awk" "$page" | sort -u >"$work/options"
    while read -r command option; do
        case $command in help | run-*) continue ;; esac
        [ -s "$work/help.$command" ] || "$tfc" "$command" --help >"$work/help.$command" ||
            complain "$page: there is no command $command"
        grep -q -- "^  $option\>" "$work/help.$command" || complain "$page: tfc $command has no $option"
    done <"$work/options"
done
grep -q "<!-- shown: " $pages || complain "no page shows anything"
[ -z "$failed" ] || exit 1
echo "all is well"
