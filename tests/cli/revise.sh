#!/bin/sh
# What tfc export writes beside the params of an imported run. Of a run that nothing changed: the published files as they
# came, for each family (tests/fixtures/published) and as both versions of transformers write them. Of one that was changed
# - positions, norms, tokens, settings of generation, labels, the language, merged adapters, the pooling, the vocabulary -:
# files that mean what the run computes, so that the run of them is the same; or an error that names what they have no place for.
# Usage: revise.sh TFC   (from the project's root)
set -eu
. tests/common.sh
fixtures=$root/tests/fixtures
enter_work
export OMP_NUM_THREADS=1
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }

publish() { # publish FAMILY CONFIG FOLDER: with words as its tokens, ids around texts, and keys that say nothing
    mkdir "$3"
    cp "$fixtures/$1_published.safetensors" "$3/model.safetensors"
    python3 - "$1" "$2" "$3" <<'END'
import json, sys
family, config, folder = sys.argv[1:]
config = json.load(open(config))
json.dump(config | {"torchscript": False, "transformers_version": "4.57.0"}, open(folder + "/config.json", "w"))
special = ["</s>", "<s>"]
vocab = {"t%d" % i: i for i in range(2, 38)} | {"[MASK]": 38, "<mask>": 39}
if family != "byt5":
    json.dump({"added_tokens": [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
                                 "normalized": False, "special": True} for i, t in enumerate(special)],
               "normalizer": None, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
               "model": {"type": "WordLevel", "unk_token": "t2", "vocab": vocab}}, open(folder + "/tokenizer.json", "w"))
keys = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_bos_token_id")
json.dump({k: config[k] for k in keys if k in config}, open(folder + "/generation_config.json", "w"))
json.dump({"model_max_length": 1000000000000000019884624838656} if family != "byt5"
          else {"tokenizer_class": "ByT5Tokenizer"}, open(folder + "/tokenizer_config.json", "w"))
END
}
imported() { # imported FOLDER RUN
    "$tfc" import "$1" -o "$2" 2>err.txt || fail "$1: $(cat err.txt)"
}
written() { # written RUN OUT OPTION…: what is said is in err.txt
    "$tfc" export "$@" 2>err.txt || fail "$*: $(cat err.txt)"
}
rules_of() { # rules_of RUN: what run.json says of its texts
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(*[r["kind"], *r["tokens"], *r["generation"]], sep="\n")' "$1/run.json"
}
# What a run is: its model, its vocabulary, its rules, and with `params` its params.
is_same() { # is_same A B [params]
    for run in "$1" "$2"; do
        sed '1,/^use /d' "$run/model.tfg" >"$run.model"
        rules_of "$run" >"$run.rules"
        [ -z "${3:-}" ] || "$tfc" export "$run" -o "$run.params.safetensors" 2>/dev/null
    done
    cmp "$1.model" "$2.model" && cmp "$1.rules" "$2.rules" || return 1
    [ ! -e "$1/tokenizer.json" ] || cmp "$1/tokenizer.json" "$2/tokenizer.json" || return 1
    [ -z "${3:-}" ] || cmp "$1.params.safetensors" "$2.params.safetensors"
}

# Nothing was changed: nothing is.
unchanged() { # unchanged FAMILY CONFIG NAME
    publish "$1" "$2" "$3"
    imported "$3" "$3.run"
    written "$3.run" --format hf -o "$3.back"
    ! grep -q 'written otherwise' err.txt || fail "$3: $(cat err.txt)"
    for file in config.json generation_config.json tokenizer.json tokenizer_config.json; do
        [ ! -e "$3/$file" ] || cmp "$3/$file" "$3.back/$file" || fail "$3: $file came back otherwise"
    done
    imported "$3.back" "$3.again"
    is_same "$3.run" "$3.again" params || fail "$3: another run came back"
}
families=llama
[ -n "$short" ] || families=$(cd "$fixtures/published" && ls ./*.json | sed 's|^./||; s/.json$//')
for family in $families; do
    unchanged "$family" "$fixtures/published/$family.json" "$family"
    newer=$fixtures/published/transformers-5/$family.json
    [ ! -e "$newer" ] || [ -n "$short" ] || unchanged "$family" "$newer" "$family.5"
done

# ---- consts ----
says() { # says RUN: what it generates
    "$tfc" generate "$1" --prompt 't3 t4 t5 t6 t7 t8 t9 t10 t11 t12' --temperature 0 --tokens 8 --json 2>/dev/null | grep -o '"ids": [^]]*]'
}
changed() { # changed RUN WHAT: the folder of it is another, says so, and is the run; in changed.back
    rm -rf changed.back changed.again
    written "$1" --format hf -o changed.back
    grep -q "written otherwise than it was published: .*$2" err.txt || fail "$1: not named: $2: $(cat err.txt)"
    imported changed.back changed.again
    [ "$(says changed.again)" = "$(says "$1")" ] || fail "$1: the exported folder computes something else"
    [ -z "$short" ] || return 0
    rm -rf once.back
    written changed.again --format hf -o once.back
    ! grep -q 'written otherwise' err.txt || fail "$1: its folder does not come back as it is: $(cat err.txt)"
    cmp changed.back/config.json once.back/config.json
}
edited() { # edited FROM TO LINE…: the run FROM with further lines in its model, or others in place of them
    rm -rf "$2"
    cp -r "$1" "$2"
    for line in "$3" "${4:-}"; do
        name=$(echo "$line" | sed 's/^\(const [a-z_]*\) =.*/\1/')
        [ -z "$line" ] || { grep -v "^$name = " "$2/model.tfg" >model.txt; cp model.txt "$2/model.tfg"; echo "$line" >>"$2/model.tfg"; }
    done
}
before=$(says llama.run)
edited llama.run turned 'const rope_type = "linear"' 'const rope_factor = 4'
[ "$(says turned)" != "$before" ] || fail "positions change nothing"
changed turned 'rope_type is "linear" (published: "default"), rope_factor is 4 (published: 1)'
grep -q '"rope_scaling": {' changed.back/config.json || fail "$(cat changed.back/config.json)"
written llama.run --format hf -o set --set 'rope_type="linear"' --set rope_factor=4
cmp set/config.json changed.back/config.json || fail "--set writes something else"
python3 - "$fixtures/published/llama.json" >newer.json <<'END' # as transformers 5 writes it
import json, sys
config = json.load(open(sys.argv[1]))
del config["rope_scaling"]
config["rope_parameters"] = {"rope_theta": config.pop("rope_theta"), "rope_type": "default"}
json.dump(config, sys.stdout)
END
if [ -z "$short" ]; then
    publish llama newer.json newer
    imported newer newer.run
    edited newer.run newer.turned 'const rope_type = "linear"' 'const rope_factor = 4'
    changed newer.turned 'rope_factor is 4'
    [ "$(grep -c 'rope_scaling' changed.back/config.json)" = 0 ] || fail "$(cat changed.back/config.json)"
fi
edited llama.run normed 'const norm_eps = 0.1'
[ -n "$short" ] || changed normed 'norm_eps is 0.1 (published: 1e-05)'
edited llama.run relu 'block activation(x) { return relu(x) }'
refuses 1 'a block or a statement of its model.tfg is its own (published: that of models/llama.tfg), and no file of a published' \
    "$tfc" export relu --format hf -o no
[ ! -e no ] || fail "a folder is left"
[ -z "$(find . -name '*.files.tmp*')" ] || fail "a temporary is left"
edited llama.run scaled 'const embedding_scale = 2'
refuses 1 'embedding_scale is 2 (published: 1), and no file' "$tfc" export scaled --format hf -o no
edited llama.run trains 'const p_unused = 0.5'
written trains --format hf -o trains.back
cmp llama/config.json trains.back/config.json || fail "a const that nothing computes by"

# ---- tokens ----
"$tfc" import llama -o ends --token stop=t5 --token stop=t7 2>err.txt || fail "$(cat err.txt)"
changed ends "its token stop is 't5' 't7' (published: '</s>' 't2')"
is_same ends changed.again || fail "the ends are others: $(cat changed.again.rules)"
if [ -z "$short" ]; then
    rm llama/generation_config.json
    "$tfc" import llama -o ends2 --token stop=t5 --token text-begin=t9 2>err.txt || fail "$(cat err.txt)"
    changed ends2 "its token stop is 't5'"
    for run in ends2 changed.again; do rules_of "$run" | grep -E 'stop|text-begin' | tail -n 2 | sort >"$run.rules"; done
    cmp ends2.rules changed.again.rules || fail "$(cat changed.again.rules)"
fi

# ---- settings of generation ----
generates() { # generates FROM TO SETTING…: the run FROM with these settings alone
    from=$1 to=$2
    shift 2
    rm -rf "$to"
    cp -r "$from" "$to"
    python3 - "$to/run.json" "$@" <<'END'
import json, sys
record = json.load(open(sys.argv[1]))
record["generation"] = sys.argv[2:]
json.dump(record, open(sys.argv[1], "w"))
END
}
generates llama.run warm temperature=0.6 top_k=20
changed warm 'temperature is 0.6 (published: 1), top_k is 20 (published: 0)'
is_same warm changed.again || fail "it generates with others: $(cat changed.again.rules)"
if [ -z "$short" ]; then
    mv changed.back warm.back
    imported warm.back warm.run
    generates warm.run nucleus top_p=0.9 repetition_penalty=1.2
    changed nucleus 'temperature is 1 (published: 0.6), top_k is 0 (published: 20), top_p is 0.9 (published: 1), repetition_penalty is 1.2 (published: 1)'
    is_same nucleus changed.again || fail "it generates with others: $(cat changed.again.rules)"
    mv changed.back greedy.back # where nothing holds any more
    sed 's/"do_sample": true/"do_sample": false/' greedy.back/generation_config.json >generation.json
    mv generation.json greedy.back/generation_config.json
    imported greedy.back greedy
    generates greedy nucleus top_p=0.8
    changed nucleus 'top_p is 0.8 (published: 1)'
    is_same nucleus changed.again || fail "it generates with others: $(cat changed.again.rules)"
fi

# The languages of a translation.
python3 "$root/tests/cli/published_tokens.py" mbart mbart.hf '{"forced_bos_token_id": 39}'
printf 'model made\nuse "%s/models/mbart.tfg"\nconst vocab = 40, d_model = 16, d_ff = 24, heads = 2, encoder_layers = 1, decoder_layers = 1, context = 20\n' "$root" >made.tfg
printf 'w5 w6\tw7 w8\nw9 w5\tw8 w7\n' >pairs.tsv
"$tfc" train made.tfg --data pairs.tsv --vocab mbart.hf/tokenizer.json --steps 1 --out made 2>err.txt || fail "$(cat err.txt)"
"$tfc" export made -o mbart.hf/model.safetensors 2>err.txt
"$tfc" import mbart.hf -o languages --token first=en_XX --token source-begin=de_DE
"$tfc" train languages --out tuned --data pairs.tsv --steps 1 2>err.txt || fail "$(cat err.txt)"
written tuned --format hf -o languages.back
grep -q "its token first is 'en_XX' (published: 'de_DE'), its token source-begin is 'de_DE' (published: 'en_XX')" err.txt || fail "$(cat err.txt)"
imported languages.back languages.again
cut -f 1 pairs.tsv >in.txt
"$tfc" translate tuned --input in.txt >wanted.txt
"$tfc" translate languages.again --input in.txt | cmp - wanted.txt || fail "it translates otherwise"
grep -q '"forced_bos_token_id": 38' languages.back/config.json || fail "$(cat languages.back/config.json)"

# ---- labels ----
publish bert_classes "$fixtures/published/bert_classes.json" classes
imported classes classes.run
cp -r classes.run named
printf 'no\nyes\nperhaps "so"\n' >named/labels-label.txt
written named --format hf -o named.back
grep -q 'written otherwise than it was published: its list of labels is labels-label.txt' err.txt || fail "$(cat err.txt)"
python3 -c 'import json; c = json.load(open("named.back/config.json")); l = ["no", "yes", "perhaps \"so\""]
assert c["id2label"] == {str(i): t for i, t in enumerate(l)} and c["label2id"] == {t: i for i, t in enumerate(l)}, c' || fail "other labels"
imported named.back named.again
cmp named/labels-label.txt named.again/labels-label.txt || fail "other labels come back"
for run in classes.run named.again; do echo 't3 t4 t5' | "$tfc" predict $run >$run.told 2>/dev/null || fail "$run predicts nothing"; done
sed 's/^bad/no/; s/^good/yes/; s/^neither/perhaps "so"/' classes.run.told | cmp - named.again.told || fail "other predictions"

# ---- the vocabulary ----
python3 - <<'END'
import json
t = json.load(open("llama/tokenizer.json"))
v = t["model"]["vocab"]
v["t3"], v["t4"] = v["t4"], v["t3"]
json.dump(t, open("other.json", "w"))
END
printf 't3 t4 t5\nt6 t3 t9\n' >text.txt
"$tfc" train llama.run --out words --vocab other.json --text text.txt --lines --steps 1 2>err.txt || fail "$(cat err.txt)"
changed words 'its vocabulary is tokenizer.json'
python3 -c 'import json; a, b = (json.load(open(f + "/tokenizer.json"))["model"] for f in ("words", "changed.back")); assert a == b' ||
    fail "it is not the run's"

# ---- merged adapters ----
printf 'model adapted\nuse "normed/model.tfg"\nuse lora\ntrain {\n  optimizer = adam(0.9, 0.98, 1e-9)\n  rate = constant(0.01)\n}\n' >lora.tfg
"$tfc" train lora.tfg --weights normed --new '**.lora_*' --only '**.lora_*' --vocab normed --text text.txt --lines --steps 30 --out lora \
    2>err.txt || fail "$(cat err.txt)"
[ "$(says lora)" != "$(says normed)" ] || fail "the adapters have learnt nothing"
written lora --merge --format hf -o merged.back
grep -q 'norm_eps is 0.1 (published: 1e-05)' err.txt || fail "$(cat err.txt)"
imported merged.back merged.again
[ "$(says merged.again)" = "$(says lora)" ] || fail "merged it answers otherwise"

# ---- pooling ----
vector() { echo 'ab cab face' | "$tfc" predict "$1" 2>/dev/null; }
published_minilm minilm
imported minilm vectors
ways='"cls"'
[ -n "$short" ] || ways='"cls" "max" "mean_sqrt_len"'
for made in $ways; do
    edited vectors pooled "const pooling = $made" 'const normalised = false'
    rm -rf pooled.back pooled.again
    written pooled --format hf -o pooled.back
    grep -q "pooling is $made (published: \"mean\")" err.txt || fail "$(cat err.txt)"
    imported pooled.back pooled.again
    vector pooled >wanted.txt
    [ -s wanted.txt ] || fail "no vector"
    vector pooled.again | cmp - wanted.txt || fail "$made: other vectors"
done
[ -z "$short" ] || exit 0
mkdir bare # of no sentence-transformers: its files are made
cp minilm/config.json minilm/tokenizer.json minilm/model.safetensors bare
imported bare bare.run
edited bare.run pooled 'const pooling = "cls"' 'const normalised = true'
written pooled --format hf -o bare.back
imported bare.back bare.again
vector pooled >wanted.txt
vector bare.again | cmp - wanted.txt || fail "other vectors"

# ---- other formats, and integers ----
python3 "$root/tests/cli/published_tokens.py" llama letters '{"intermediate_size": 64}' '{"eos_token_id": 257, "temperature": 0.6, "top_k": 20, "repetition_penalty": 1.05}'
yes 'the hen is on the sea' | head -n 4 >letters.txt
printf 'model made\nuse "%s/models/llama.tfg"\nconst vocab = 258, d_model = 32, d_ff = 64, heads = 4, kv_heads = 2, layers = 1, context = 64, tied = true\n' "$root" >made.tfg
rm -rf made
"$tfc" train made.tfg --text letters.txt --vocab letters/tokenizer.json --steps 20 --out made 2>err.txt || fail "$(cat err.txt)"
"$tfc" export made -o letters/model.safetensors 2>err.txt
says() { "$tfc" generate "$@" --prompt 'the hen is on the sea, and the' --temperature 0 --tokens 8 --json 2>/dev/null | grep -o '"ids": [^]]*]'; }
imported letters letters.run
edited letters.run turned 'const rope_type = "linear"' 'const rope_factor = 8'
[ "$(says turned)" != "$(says letters.run)" ] || fail "positions change nothing"
"$tfc" quantize turned -o small --dtype q8_0 >out.txt 2>err.txt || fail "$(cat err.txt)"
for run in turned small; do
    written "$run" -o "$run.gguf"
    grep -q 'rope_factor is 8' err.txt || fail "$(cat err.txt)"
    imported "$run.gguf" "$run.gguf.run"
    [ "$(says "$run.gguf.run")" = "$(says "$run")" ] || fail "$run: the GGUF computes something else"
    rules_of "$run.gguf.run" >rules.txt
    for setting in temperature=0.6 top_k=20 repetition_penalty=1.05; do
        grep -qx "$setting" rules.txt || fail "$run: the GGUF's run does not generate with $setting: $(cat rules.txt)"
    done
    written "$run.gguf.run" --format hf -o "$run.gguf.back" # a whole folder of it, in f32
    imported "$run.gguf.back" "$run.whole"
    for of in gguf.run whole; do
        [ $of = gguf.run ] && in= || in='--dtype f32'
        "$tfc" score "$run" $in --text letters.txt >wanted.txt 2>/dev/null
        "$tfc" score "$run.$of" --text letters.txt 2>/dev/null | cmp - wanted.txt || fail "$run.$of: other logits"
        [ "$(says "$run.$of")" = "$(says "$run" $in)" ] || fail "$run.$of: other ids"
    done
    written "$run" --format hf -o "$run.back"
    grep -q '"factor": 8' "$run.back/config.json" || fail "$(cat "$run.back/config.json")"
done
