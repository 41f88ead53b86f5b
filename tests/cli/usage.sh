#!/bin/sh
# What tfc says and how it exits when it is used wrongly or given wrong files.
# Usage: usage.sh TFC   (from the project's root; TFC_UPDATE=1 rewrites the golden file)
set -u
. tests/common.sh
golden=$root/tests/golden/cli/usage.txt
models=$root/models
enter_work

# The command, its exit status, and what it printed; the first lines are enough.
say() {
    echo "\$ tfc $*"
    "$tfc" "$@" >out.txt 2>err.txt </dev/null
    echo "status $?"
    head -n 12 out.txt | sed 's/^/out: /'
    head -n 12 err.txt | LC_ALL=C tr "\377" "?" | sed "s#$models#models#g; s/^/err: /"
    echo
}

cat >good.tfg <<'END'
model good
use transformer
const layers = 1, d_model = 8, d_ff = 16, heads = 2, vocab = 12
END
cat >wrong.tfg <<'END'
model wrong
dim B, S
input src : token[B, S~]
param table : [10, 8] = normal(0, 1)
param other : [4, 3] = zerso
output y = tabel[src] @ other
END
cat >noloss.tfg <<'END'
model noloss
dim B
input x : f32[B, 3]
param w : [3, 2] = zeros
output y = x @ w
END
cat >good.tir <<"END"
module "good"
func "f" {
}
END
printf 'a b\nb a\n' >two.txt
printf 'a b\n' >one.txt
printf 'a \377 b\nb a\n' >bad.txt
printf 'not a safetensors file' >junk.safetensors
: >empty.txt
mkdir folder

{
    say
    say --version | sed -E '/^out: tfc/!s/^(out: .{12}).*/\1…/' # the values are this machine's
    say trian
    say trans
    say compile good.tfg
    say train
    say train good.tfg
    say train good.tfg --out run
    say train good.tfg --out run --vocb x
    say train good.tfg --out run --vocab words:auto --steps zero
    say train good.tfg --out run --vocab words:auto --steps 0
    say train good.tfg --out run --resume
    say train good.tfg --out run --vocab words:auto
    say train good.tfg --out run --vocab words:auto --text two.txt
    say train good.tfg --out run --vocab words:auto --source two.txt --target one.txt
    say train good.tfg --out run --vocab words:auto --source bad.txt --target two.txt
    say train good.tfg --out run --vocab words:auto --source empty.txt --target empty.txt
    say train good.tfg --out run --vocab words:auto --source absent.txt --target two.txt
    say train good.tfg --out run --vocab words:auto --source two.txt --target two.txt --set vocab=99
    say train good.tfg --out run --vocab words:auto --source two.txt --target two.txt --set heds=2
    say train good.tfg --out run --vocab junk.safetensors --source two.txt --target two.txt
    say train wrong.tfg --out run --vocab words:auto --source two.txt --target two.txt
    say train noloss.tfg --out run --vocab words:auto --text two.txt
    say translate
    say translate folder
    say translate run extra
    say score nowhere
    say eval folder --beam 0
    say eval folder --beam 100000
    say translate folder --nbest 4294967297
    say translate folder --top-p 1.5
    say translate folder --temperature inf
    say train good.tfg --out run --vocab words:auto --threads 100000
    say train good.tfg --out run --vocab words:auto --batch-tokens 1000000000000
    say train good.tfg --out run --vocab words:auto --minutes inf
    say run good.tfg
    say run good.tfg --in junk.safetensors --out out.safetensors
    say run good.tfg --in absent.safetensors --out out.safetensors
    say run good.tfg --in junk.safetensors --out o --dtype f16
    say dump good.tfg --stage grahp
    say dump good.tfg --stage llvm --format dot
    say dump good.tfg --function forwrad
    say dump good.tfg --function train
    say dump good.tfg --stage fused --passes=-fuse
    say dump good.tfg --stage fused --passes -expand
    say dump good.tfg --passes=-fuze_rows
    say dump good.tfg -O3
    say compile good.tfg -o good.o --emit obj --target aarch64
    say compile good.tfg -o good.o --emit obj --function decode
    say dump noloss.tfg --stage grad
    say opt
    say opt absent.tir
    say opt good.tfg --passes simplify
    printf "model x\n" >model.tir
    say opt model.tir
    say opt good.tir --passes fuse
    say opt good.tir --passes zzz
    say bench good.tfg --batch 1000000 --source-length 1000000
    say info junk.safetensors
    say info nowhere
    say info noloss.tfg
} >said.txt

if [ "${TFC_UPDATE:-}" = 1 ]; then
    cp said.txt "$golden"
    exit 0
fi
diff -u "$golden" said.txt
