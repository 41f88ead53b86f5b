#!/bin/sh
# Random language models read a prompt at once as they read it token by token: a text that a model has written is cut
# at every place, and each beginning is continued as before. Models differ in positions, masks, heads that share keys,
# norms, activations, and in what else mixes positions.
# Usage: prefill_models.sh TFC   (from the project's root)
set -eu
. tests/common.sh
enter_work
export TFC_CACHE="$work/cache"
models=12
[ -z "$short" ] || models=3
awk 'BEGIN { for (i = 0; i < 40; i++) print "w" i }' | cat - >words.txt
printf '<unk>\n<s>\n</s>\n' | cat - words.txt >vocab.txt
awk 'BEGIN { srand(3); for (i = 0; i < 40; i++) { line = ""; for (n = 0; n < 12; n++) line = line "w" int(rand() * 40) " "; print line } }' >text

# model SEED: one of its choices at each place
model() {
    awk -v seed="$1" '
    function of(list,   n, words) { n = split(list, words, "|"); return words[1 + int(rand() * n)] }
    BEGIN {
        srand(seed); for (i = 0; i < 5; i++) rand()
        heads = of("1|2|4"); layers = of("1|2|3")
        norm = of("layer_norm|rms_norm"); table = of("none|learned|sinusoid"); turned = of("no|rotary|halved")
        print "model drawn\nconst vocab = 43, d = 32, heads = " heads
        print "dim B, T\ninput tokens : token[B, T~]\nparam embedding : [vocab, d] = normal(0, 0.5)"
        print "block scores(q, k) {"
        print "  s = q @ transpose(k) * (d / heads) ^ -0.5"
        if (of("yes|no") == "yes") print "  s = s + alibi(heads, T)"
        if (of("yes|no|no") == "yes") print "  s = s + relative_bias as bias(heads, 4, T)"
        print "  return softmax(mask(s, causal(T)" of("| and window(3, T)| and window(1, T)") "))\n}"
        print "block mix(x) {"
        print "  q = heads_of(linear as query(x, d), heads)\n  k = heads_of(linear as key(x, d), heads)"
        if (turned == "rotary") print "  q = rotary(q)\n  k = rotary(k)"
        if (turned == "halved") print "  q = rotary(q, halved = true)\n  k = rotary(k, halved = true)"
        print "  v = heads_of(linear as value(x, d), heads)"
        print "  y = join_heads(scores as scores(q, k) @ v)"
        if (of("yes|no") == "yes") print "  y = y * sigmoid(linear as gate(x, d))"
        print "  return linear as output(y, d)\n}"
        print "block wide(x) {"
        print of("  return linear as down(gelu(linear as up(x, 48)), d)|  return linear as down(silu(linear as gate(x, 48)) * linear as up(x, 48), d)|  return linear as down(glu(linear as up(x, 96)), d)")
        print "}"
        print "block layer(x) {"
        if (of("pre|post") == "pre") {
            print "  x = x + mix as mix(" norm " as first(x))"
            print "  return x + wide as wide(" norm " as second(x))\n}"
        } else {
            print "  x = " norm " as first(x + mix as mix(x))"
            print "  return " norm " as second(x + wide as wide(x))\n}"
        }
        print "x = embedding[tokens]"
        if (table == "learned") print "x = x + learned_positions as positions(T, d, 64)"
        if (table == "sinusoid") print "x = x + sinusoid(T, d)"
        print "repeat " layers " as layer { x = layer(x) }"
        print "output logits = " of("x @ transpose(embedding)|linear as head(x, vocab)")
        print "loss = cross_entropy(logits, next(tokens))"
        print "train {\n  optimizer = adam()\n  rate = constant(0.001)\n  batch = tokens(200)\n}"
    }'
}

cut=0
for seed in $(seq $models); do
    model "$seed" >model.tfg
    "$tfc" train model.tfg --text text --vocab words:vocab.txt --token newline=none --steps 2 --validate-every 0 --out run$seed >log 2>&1 ||
        fail "model $seed: $(cat log model.tfg)"
    for dtype in f32 int8 int4; do
        say() { "$tfc" generate run$seed --temperature 0 --dtype $dtype --tokens 12 "$@"; }
        whole=$(say --prompt "w3 w11") # its tokens one by one
        echo "$whole" | awk '{ for (i = 3; i < NF; i++) { line = $1; for (k = 2; k <= i; k++) line = line " " $k; print line } }' >prompts
        say --input prompts >said
        [ "$(wc -l <said)" = "$(wc -l <prompts)" ] || fail "model $seed: lines are missing"
        while read -r line; do
            case "$line " in
            "$whole "*) cut=$((cut + 1)) ;;
            *) fail "model $seed, $dtype: $whole token by token; after a prompt $line; $(cat model.tfg)" ;;
            esac
        done <said
    done
done
[ $cut -gt $((models * 10)) ] || fail "$cut places were cut"
echo "all is well: $models models, $cut places"
