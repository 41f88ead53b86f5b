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

for file in share/man/man1/tfc.1 share/bash-completion/completions/tfc share/zsh/site-functions/_tfc \
    share/vim/vimfiles/syntax/tfg.vim share/tfc/vscode/package.json share/tfc/models/lib/prelude.tfg \
    share/tfc/runtime/runtime/model/model.c share/tfc/runtime/base/file.h; do
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done
grep -q '^complete .* tfc$' "$prefix/share/bash-completion/completions/tfc" || fail "completion"

pc=$(find "$prefix" -name tfc.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion tfc)" = "$("$prefix/bin/tfc" --version | cut -d ' ' -f 2)" ] || fail "pkg-config"
[ -s "$(pkg-config --variable=models tfc)/lib/prelude.tfg" ] || fail "pkg-config: models"

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(tfc 0.1 REQUIRED)
get_target_property(program tfc::tfc IMPORTED_LOCATION)
add_custom_target(graph ALL COMMAND ${program} dump ${TFC_MODELS}/bert.tfg --stage graph > graph.tir VERBATIM)
END
{ cmake -G Ninja -S . -B b -DCMAKE_PREFIX_PATH="$prefix" && cmake --build b; } >log 2>&1 || fail "find_package: $(cat log)"
grep -q '^func' b/graph.tir || fail "find_package: no graph"
echo "all is well"
