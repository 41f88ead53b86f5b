#!/bin/sh
# scripts/tarball: the same bytes from two checkouts of a commit, at another time, under another umask; what
# is committed, and no more.
# Usage: tarball.sh TFC   (from the project's root)
set -eu
. tests/common.sh
git rev-parse --verify -q HEAD >/dev/null || { echo "skipped: this is no git checkout"; exit 77; }
version=$("$tfc" --version | sed -n '1s/tfc //p')

mkdir "$work/made"
git clone -q . "$work/made/other"
cp scripts/tarball "$work/made/other/scripts"
(
    cd "$work/made/other"
    git add scripts/tarball
    git -c user.name=t -c user.email=t@localhost commit -qm "the script of the checkout" --allow-empty
    echo "not committed" >stray
    scripts/tarball "$work/one" >"$work/one.sum" || fail "no tarball"
)
sleep 1
(
    umask 077
    git clone -q "$work/made/other" "$work/again"
    cd "$work/again"
    TZ=Asia/Tokyo scripts/tarball "$work/two" >"$work/two.sum" || fail "no tarball of another checkout"
)
cmp "$work/one/tfc-$version.tar.gz" "$work/two/tfc-$version.tar.gz" || fail "two checkouts make two tarballs"
cmp "$work/one.sum" "$work/two.sum" || fail "their sums are told differently"
tar -tzf "$work/one/tfc-$version.tar.gz" >"$work/list"
grep -qx "tfc-$version/scripts/build" "$work/list" || fail "the script that builds is missing"
! grep -q stray "$work/list" || fail "it has what is not committed"
[ "$(wc -l <"$work/list")" -gt "$(git ls-files | wc -l)" ] || fail "files are missing"
echo "all is well"
