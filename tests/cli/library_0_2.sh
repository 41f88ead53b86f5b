#!/bin/sh
# A library that 0.2.0 made (tests/fixtures/0.2.0/library, by compile --emit c) answers as it did, to a program of that
# time; the same program is refused by a library of this version, whose header is another.
# Usage: library_0_2.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
cp "$root"/tests/fixtures/0.2.0/library/* .
gzip -d pairs.c.gz
$CC -O0 -fPIC -shared pairs.c -o libbackwards.so -lm -lpthread || fail "the library is not compiled"
$CC say.c -o say -L. -lbackwards || fail "say.c"
head -n 20 "$root/tests/fixtures/0.2.0/train.src" | LD_LIBRARY_PATH=. ./say | cmp - "$root/tests/fixtures/0.2.0/pairs.translated" ||
    fail "the library of 0.2.0 translates otherwise"

cp -r "$root/tests/fixtures/0.2.0/pairs" .
mkdir now
"$tfc" compile pairs -o now/libbackwards.so 2>err || fail "$(cat err)"
echo "a b" >line
LD_LIBRARY_PATH=now refuses 1 "the program was compiled with another backwards.h" ./say <line
echo "all is well"
