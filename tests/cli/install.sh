#!/bin/sh
# cmake --install into a fresh prefix; the installed program, moved elsewhere, finds its
# library from any folder; pkg-config and find_package find it.
# Usage: install.sh TFC   (from the project's root; TFC lies in the build folder)
set -eu
. tests/common.sh
build=$(dirname "$tfc")
unset TFC_LIBRARY || true

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
mv "$work/first" "$work/prefix"
mkdir "$work/elsewhere"
cd "$work/elsewhere"
prefix=$work/prefix

cat >own.tfg <<'END'
model own
use transformer
const layers = 1, d_model = 16, d_ff = 32, heads = 2, vocab = 12
END
"$prefix/bin/tfc" bench own.tfg --batch 2 --source-length 4 --target-length 4 --steps 1 --warm-up 0 >out 2>err ||
    fail "the installed program: $(cat err)"
"$prefix/bin/tfc" dump "$prefix/share/tfc/models/gpt.tfg" --stage graph >graph || fail "an installed model"
grep -q '^func' graph || fail "$(head -n 3 graph)"
"$prefix/bin/tfc" compile own.tfg -o own.so 2>err || fail "a library, linked with the installed archive: $(cat err)"

for file in share/man/man1/tfc.1 share/bash-completion/completions/tfc share/zsh/site-functions/_tfc \
    share/vim/vimfiles/syntax/tfg.vim share/tfc/vscode/package.json share/tfc/models/lib/prelude.tfg share/tfc/models/kinds/translator.tfg.in \
    share/tfc/models/kinds/translator.md.in share/tfc/runtime/runtime/model/model.c share/tfc/runtime/base/file.h; do
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done
grep -q '^complete .* tfc$' "$prefix/share/bash-completion/completions/tfc" || fail "completion"

find "$prefix/share/doc/tfc" -name '*.md' | while read -r page; do dead_links "$page"; done >dead
[ ! -s dead ] || fail "$(cat dead)"
[ -e "$prefix/share/doc/tfc/docs/installing.md" ] || fail "docs/installing.md is not installed"

pc=$(find "$prefix" -name tfc.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion tfc)" = "$("$prefix/bin/tfc" --version | sed -n 's/^tfc //p')" ] || fail "pkg-config"
[ -s "$(pkg-config --variable=models tfc)/lib/prelude.tfg" ] || fail "pkg-config: models"

# A program with a model inside, as docs/installing.md has it, by pkg-config and by CMake.
block() { awk -v open="\`\`\`$1" '$0 == open { on = 1; next } /^```/ { on = 0 } on' "$root/docs/installing.md"; }
cat >main.c <<'END'
#include "own.h"
#include <stdio.h>
int main(void)
{
    static const int32_t source[] = {5, 6, 7}, target[] = {1, 10, 11, 9}, n = 3, m = 4;
    own *model;
    own_session *session;
    own_forward_in in = {.B = 1, .S_lengths = &n, .T_lengths = &m, .src = source, .tgt = target};
    own_forward_out out;
    if (own_open_new(7, &model) || own_session_new(model, &session) || own_forward(session, &in, &out))
        return 1;
    for (int i = 0; i < 4 * own_VOCABULARY; i++)
        printf("%a\n", (double)out.logits[i]);
    own_session_free(session);
    own_close(model);
    return 0;
}
END
block sh >commands
grep -q pkg-config commands || fail "docs/installing.md shows no commands"
PATH=$prefix/bin:$PATH sh -eu commands >log 2>&1 || fail "pkg-config: $(cat log)"
./program >logits || fail "pkg-config: the program fails"
[ "$(sort -u logits | wc -l)" -gt 20 ] || fail "pkg-config: $(head -n 5 logits)"

{
    echo "cmake_minimum_required(VERSION 3.25)"
    echo "project(user LANGUAGES C)"
    block cmake
    # shellcheck disable=SC2016  # a variable of CMake
    echo 'add_custom_target(graph ALL COMMAND tfc::tfc dump ${TFC_MODELS}/bert.tfg --stage graph > graph.tir VERBATIM)'
} >CMakeLists.txt
{ cmake -G Ninja -S . -B b -DCMAKE_PREFIX_PATH="$prefix" && cmake --build b; } >log 2>&1 || fail "find_package: $(cat log)"
grep -q '^func' b/graph.tir || fail "find_package: no graph"
b/program | cmp - logits || fail "find_package: other logits"

# Whoever has built the program alone, as scripts/demo does, has all that is installed.
ninja -C "$build" -t commands tfc >commands
for file in $(sed -n "s#.*\"$build/\([^\"]*\)\".*#\1#p" "$build/cmake_install.cmake" | sort -u); do
    ninja -C "$build" -t query "$file" 2>/dev/null | grep -q input: || continue
    grep -q -e "$file\>" commands || fail "building tfc does not make $file"
done
echo "all is well"
