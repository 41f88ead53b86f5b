#!/bin/sh
# The values of the prelude's activations: against their formulas, computed in f64 by another program (Python's math).
# Their gradients where pieces of them have a kink: against the exact ones or, on a kink of the function itself, PyTorch's.
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
printf '\2\0\0\0\0\0\0\0{}' >nothing.safetensors # the models have no inputs
# NAME VALUE of each tensor of a file, each of one element
read_values() {
    length=$(od -An -t u8 -N 8 "$1" | tr -d ' ')
    tail -c +9 "$1" | head -c "$length" | tr '{' '\n' | awk -F'"' '
        /data_offsets/ { match($0, /data_offsets":\[[0-9]+/); print name, substr($0, RSTART + 15, RLENGTH - 15) }
        NF > 1 { name = $(NF - 1) }' | while read -r name at; do
        echo "$name $(od -An -t fF -j $((8 + length + at)) -N 4 "$1")"
    done
}
"$tfc" run activations.tfg --in nothing.safetensors --out values.safetensors
read_values values.safetensors >values.txt
awk 'FILENAME == "expected.txt" { for (i = 2; FNR > 1 && i <= NF; i++) want[$1 "_" i - 1] = $i; next }
     { d = $2 - want[$1]; w = want[$1] < 0 ? -want[$1] : want[$1]; seen++
       if (d < 0) d = -d
       if (!($1 in want) || d > 1e-6 * w + 1e-7) { print $1 ": " $2 ", not " want[$1]; wrong = 1 } }
     END { exit wrong || seen != 30 }' expected.txt values.txt || fail "$(cat values.txt)"

# The value of p, the gradient there, and the expression whose gradient it is.
cat >kinks.txt <<'END'
0 0.5 softplus(p)
-0.5 0.37754067 softplus(p)
0.5 0.62245933 softplus(p)
0 0.5 silu(p)
0 0.5 gelu(p)
0 0.5 gelu_tanh(p)
0 1 elu(p)
0 2 elu(p, 2)
0 0.01 leaky_relu(p)
0 0 relu(p)
0 0 abs(p)
0 0.5 maximum(p, 0)
0 0.5 minimum(p, 0)
-1 1 clamp(p, -1, 1)
1 1 clamp(p, -1, 1)
0.5 1 clamp(p, -1, 1)
-2 0 clamp(p, -1, 1)
2 0 clamp(p, -1, 1)
1 0 clamp(1, p, 3)
0.5 1 clamp(0, p, 3)
2 0.5 max(concat([p, p * 0 + 2]), -1)
0 0.5 logsumexp(concat([p, p * 0]), -1)
2 0 (p * 0) ^ p
0 0 (p * 0) ^ p
0 0 p ^ (p * 0)
0 3 (p + 1) ^ 3
0 0 p ^ 2
-1 -2 p ^ 2
END
awk '{ at = $1; $1 = ""; gradient = $2; $2 = ""
       n++; e = $0; while (match(e, /(^|[^a-z_])p($|[^a-z_0-9])/)) {
           k = RSTART + (substr(e, RSTART, 1) != "p"); e = substr(e, 1, k - 1) "P" n substr(e, k + 1) }
       gsub(/P/, "p", e)
       print "param p" n " : [1] = " at > "kinks.tfg"; terms = terms " + sum(" e ")"
       print "grad.p" n, gradient > "kinks.want" }
     END { print "loss = 0" terms > "kinks.tfg" }' kinks.txt
"$tfc" run kinks.tfg --in nothing.safetensors --grad --out kinks.safetensors 2>err || fail "$(cat err; cat kinks.tfg)"
read_values kinks.safetensors | awk 'FILENAME == "kinks.want" { want[$1] = $2; n++; next }
     $1 in want { seen++; d = $2 - want[$1]; if (!(d < 1e-6 && d > -1e-6)) { print $1 ": " $2 ", not " want[$1]; wrong = 1 } }
     END { exit wrong || seen != n || n != 28 }' kinks.want - >wrong || fail "gradients at kinks: $(cat wrong; cat kinks.tfg)"

# tfc check judges gradients where params begin at zero: one between the slopes of both sides is right.
cat >zeros.tfg <<'END'
model zeros
param a : [3] = zeros
param b : [3] = zeros
loss = sum(softplus(a) * elu(b)) + sum(relu(a) + abs(b) + clamp(b, 0, 1))
END
"$tfc" check zeros.tfg >out 2>&1 || fail "$(cat out)"
grep -q '^ok .*gradients = central.*lie on a kink' out || fail "$(cat out)"
sed 's/softplus(a)/(relu(a) + log1p(exp(-abs(a))))/; s/elu(b)/(b + 1)/; s/ + sum(relu.*//' zeros.tfg >wrong.tfg
! "$tfc" check wrong.tfg >out 2>&1 || fail "a gradient that is no slope at zero passes: $(cat out)"
grep -q '^FAILED .*gradients = central' out || fail "$(cat out)"
echo "all is well"
