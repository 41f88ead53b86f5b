#!/bin/sh
# scripts/docs-site: every page that README names is there and opens in browsers; a link that leads nowhere
# is refused.
# Usage: docs_site.sh TFC   (from the project's root)
set -eu
. tests/common.sh
for module in sphinx myst_parser sphinx_rtd_theme; do
    /usr/bin/python3 -c "import $module" 2>/dev/null || { echo "skipped: there is no $module (scripts/setup --docs)"; exit 77; }
done
git rev-parse --verify -q HEAD >/dev/null || { echo "skipped: this is no git checkout"; exit 77; }

scripts/docs-site "$work/site" >"$work/out" 2>&1 || fail "$(cat "$work/out")"
for page in $(grep -oE '\]\(docs/[A-Za-z/_-]+\.md' README.md | sed 's/.*(//; s/md$/html/' | sort -u); do
    [ -s "$work/site/$page" ] || fail "there is no $page"
done
# The side bar has README's chapters, with their pages, and the sections of the page.
chapters=$(sed -n 's/^| \*\*\(.*\)\*\* | |$/\1/p' README.md)
[ "$(echo "$chapters" | wc -l)" -ge 5 ] || fail "README has no chapters: $chapters"
echo "$chapters" | while read -r chapter; do
    grep -q "class=\"caption\".*$chapter<" "$work/site/index.html" || fail "the side bar has no chapter '$chapter'"
done || exit 1
after=$(sed -n '/class="caption".*>Train</,/class="caption".*>Use models</p' "$work/site/docs/language.html")
for page in training distributed data tokenizers data-columns; do
    echo "$after" | grep -q "href=\"$page.html\"" || fail "the chapter Train has no $page: $after"
done
for section in '#resuming' '#data-larger-than-memory' '#the-best-checkpoint'; do
    [ "$(grep -c "class=\"reference internal\" href=\"$section\"" "$work/site/docs/training.html")" -ge 1 ] ||
        fail "the side bar of the page on training has no $section"
done
[ ! -e "$work/site/README.html" ] || fail "there are two first pages"
grep -q 'href="docs/tutorials/translator.html"' "$work/site/index.html" || fail "the first page does not lead to a tutorial"
in_browsers "$root/tests/cli/opens.mjs" "$work/site/index.html" "$work/site/docs/language.html" "$work/site/docs/tutorials/README.html"

git clone -q . "$work/other"
cp scripts/docs-site "$work/other/scripts"
cp docs/conf.py docs/site.css "$work/other/docs"
echo '[nowhere](nowhere.md)' >>"$work/other/docs/glossary.md"
! "$work/other/scripts/docs-site" "$work/no" >"$work/out" 2>&1 || fail "a link that leads nowhere is taken"
grep -q "glossary.md.*nowhere" "$work/out" || fail "it does not name the link: $(cat "$work/out")"
echo "all is well"
