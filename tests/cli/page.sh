#!/bin/sh
# The page of `tfc dump --format html`: whole in one file and not large; where there are a
# headless Chromium and node, it is opened and used (page.mjs, and page_selftest.js for
# models of each kind). Usage: page.sh TFC   (from the project's root)
set -u
. tests/common.sh
status=0
fail() { # and goes on
    echo "FAILED: $*"
    status=1
}

"$tfc" dump models/transformer_base.tfg --format html >"$work/base.html" || fail "page"
size=$(wc -c <"$work/base.html")
test "$size" -lt 5000000 || fail "the page takes $size bytes"
grep -qE '(src|href)="?(http|//)' "$work/base.html" && fail "the page asks for something from outside"
grep -q '@@' "$work/base.html" && fail "a part of the page is missing"

if ! command -v chromium >/dev/null; then
    echo "no chromium: the page was not opened"
    exit $status
fi

# with_selftest PAGE: a copy of it that tries itself as it opens.
with_selftest() {
    awk '/^<\/body>/ { print "<script>"; while ((getline line <"tests/cli/page_selftest.js") > 0) print line; print "</script>" }
         { print }' "$1"
}
# selftest NAME DUMP-ARGUMENTS…
selftest() {
    name=$1
    shift
    test -s "$work/$name.html" || "$tfc" dump "$@" --format html >"$work/$name.html" || fail "the page of $*"
    with_selftest "$work/$name.html" >"$work/tried.html"
    chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$work/chromium" --window-size=1600,950 \
        --dump-dom "file://$work/tried.html" >"$work/dom.html" 2>/dev/null
    verdict=$(grep -ao 'id="verdict">selftest [A-Z][^<]*' "$work/dom.html" | tail -1)
    test "$verdict" = 'id="verdict">selftest PASS' || fail "the page of $name: ${verdict:-no verdict}"
}
selftest base models/transformer_base.tfg
[ -z "$short" ] || exit $status
selftest gpt "$root/models/gpt.tfg" --set layers=2 # by its whole path
selftest bert models/bert.tfg --set layers=1 -O0 # where nothing is fused

if command -v node >/dev/null; then
    "$tfc" dump models/multi30k_tiny.tfg --set layers=1 --format html >"$work/small.html" || fail "page"
    with_selftest "$work/small.html" >"$work/tried.html"
    timeout 300 node tests/cli/page.mjs "$work/small.html" "$work/tried.html" || fail "the page in use"
else
    echo "no node: the page was not used with keys and pointer"
fi
exit $status
