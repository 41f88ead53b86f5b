#!/bin/sh
# The values of the prelude's activations: against their formulas, computed in f64 by another program (Python's math).
# Usage: activations.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work

cat >expected.txt <<'END'
x          -3             -0.5           0.25           2              6
gelu       -0.00404969409 -0.154268769   0.149676581    1.95449974     5.99999999
gelu_tanh  -0.00363739208 -0.15428599    0.149675351    1.95459769     6
silu       -0.14227762    -0.188770334   0.140544125    1.76159416     5.98516426
softplus   0.0485873516   0.474076984    0.82593942     2.12692801     6.00247569
leaky_relu -0.03          -0.005         0.25           2              6
elu        -0.950212932   -0.39346934    0.25           2              6
END
awk 'NR == 1 { print "model activations"; for (i = 2; i <= NF; i++) print "param x" i - 1 " : [1] = " $i; n = NF - 1 }
     NR > 1 { for (i = 1; i <= n; i++) print "output " $1 "_" i " = " $1 "(x" i ")" }' expected.txt >activations.tfg
printf '\2\0\0\0\0\0\0\0{}' >nothing.safetensors # the model has no inputs
"$tfc" run activations.tfg --in nothing.safetensors --out values.safetensors
length=$(od -An -t u8 -N 8 values.safetensors | tr -d ' ')
# NAME VALUE of each tensor, each of one element
tail -c +9 values.safetensors | head -c "$length" | tr '{' '\n' | awk -F'"' '
    /data_offsets/ { match($0, /data_offsets":\[[0-9]+/); print name, substr($0, RSTART + 15, RLENGTH - 15) }
    NF > 1 { name = $(NF - 1) }' | while read -r name at; do
    echo "$name $(od -An -t fF -j $((8 + length + at)) -N 4 values.safetensors)"
done >values.txt
awk 'FILENAME == "expected.txt" { for (i = 2; FNR > 1 && i <= NF; i++) want[$1 "_" i - 1] = $i; next }
     { d = $2 - want[$1]; w = want[$1] < 0 ? -want[$1] : want[$1]; seen++
       if (d < 0) d = -d
       if (!($1 in want) || d > 1e-6 * w + 1e-7) { print $1 ": " $2 ", not " want[$1]; wrong = 1 } }
     END { exit wrong || seen != 30 }' expected.txt values.txt || fail "$(cat values.txt)"
echo "all is well"
