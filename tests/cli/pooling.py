"""Vectors of texts, for tests/cli/pooling.sh: every way of pooling, layers behind it and prompts, as sentence-transformers'
modules have them, in folders and after export, against the forward pass in f64.

    pooling.py TFC FIXTURES [library] [short]    in an empty folder; library: in compiled ones, too
"""
import json
import math
import os
import re
import struct
import sys

from encoder_f64 import Encoder, gelu, linear, read_tensors, words, write, write_weights
from ran import fail, ran, run

tfc, fixtures, *further = sys.argv[1:]
library, short = "library" in further, "short" in further
TEXTS = ["t3 t4 t5", "t8", "", "t21 t22 t23 t24 t25 t26 t27", "t9 t9 t10 t11"]
WEIGHTS = os.path.join(fixtures, "minilm_published.safetensors")
with open(os.path.join(fixtures, "published/minilm.json"), encoding="utf-8") as file:
    CONFIG = json.load(file)
TENSORS = read_tensors(WEIGHTS)
ENCODER = Encoder(CONFIG, TENSORS)
D = CONFIG["hidden_size"]


# ---- what the modules compute (sentence_transformers/sentence_transformer/modules/pooling.py) ----
def pool(x, way):
    columns, n = list(zip(*x)), len(x)
    if way == "cls":
        return list(x[0])
    if way == "lasttoken":
        return list(x[-1])
    if way == "max":
        return [max(c) for c in columns]
    if way == "weightedmean":
        return [sum(v * (i + 1) for i, v in enumerate(c)) / sum(range(1, n + 1)) for c in columns]
    return [sum(c) / (n if way == "mean" else math.sqrt(n)) for c in columns]


FUNCTIONS = {"linear.Identity": lambda x: x, "activation.Tanh": math.tanh, "activation.ReLU": lambda x: max(x, 0), "activation.GELU": gelu,
             "activation.SiLU": lambda x: x / (1 + math.exp(-x)), "activation.Sigmoid": lambda x: 1 / (1 + math.exp(-x))}


def unit(v):
    return [x / math.sqrt(sum(y * y for y in v)) for x in v]


def vector(text, ways, modules):
    """Modules: "Normalize", "Dropout", or a layer: function, weight, bias."""
    ids = [1, *(int(word[1:]) for word in text.split()), 0]
    x = ENCODER.states(ids, [0] * len(ids))
    v = [value for way in ways for value in pool(x, way)]
    for module in modules:
        if module == "Normalize":
            v = unit(v)
        elif module != "Dropout":
            function, weight, bias = module
            v = [FUNCTIONS[function](y) for y in linear(v, weight, bias or [0] * len(weight))]
    return v


for row, n, wanted in zip(TENSORS["0.first"], TENSORS["0.first.lengths"], TENSORS["vector"]):
    found = unit(pool(ENCODER.states(row[:n], [0] * n), "mean"))
    if any(abs(a - b) > 1e-5 for a, b in zip(found, wanted)):
        fail("minilm", f"the forward pass gives {found}, and transformers {wanted}")


# ---- folders ----
def layer(function, n_in, n_out, bias=True, seed=1):
    """A layer with weights that look random."""
    values = [math.sin(12.9898 * (i + seed)) for i in range(n_out * n_in + n_out)]
    weight = [values[i * n_in:(i + 1) * n_in] for i in range(n_out)]
    return function, weight, values[-n_out:] if bias else None


def write_layer(path, module):
    function, weight, bias = module
    os.makedirs(path)
    settings = {"in_features": len(weight[0]), "out_features": len(weight), "bias": bias is not None,
                "activation_function": "torch.nn.modules." + function}
    write(settings, path, "config.json")
    rows = [("linear.weight", [len(weight), len(weight[0])], [v for row in weight for v in row])]
    rows += [("linear.bias", [len(bias)], bias)] if bias else []
    header, data = {}, b""
    for name, shape, values in rows:
        part = struct.pack("<%df" % len(values), *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    with open(os.path.join(path, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def folder(name, pooling, modules=(), settings=None, front="sentence_transformers.models."):
    os.makedirs(os.path.join(name, "1_Pooling"))
    write(CONFIG, name, "config.json")
    write(words("bert"), name, "tokenizer.json")
    write_weights(WEIGHTS, name, "model.safetensors")
    write({"word_embedding_dimension": D} | pooling, name, "1_Pooling", "config.json")
    kinds = ["Transformer", "Pooling", *(module if isinstance(module, str) else "Dense" for module in modules)]
    write([{"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": front + kind} for i, kind in enumerate(kinds)],
          name, "modules.json")
    for i, module in enumerate(modules):
        if not isinstance(module, str):
            write_layer(os.path.join(name, f"{i + 2}_Dense"), module)
    if settings:
        write(settings, name, "config_sentence_transformers.json")
    return name


def predicted(name, texts, *options):
    with open("texts", "w", encoding="utf-8") as file:
        file.write("".join(text + "\n" for text in texts))
    return [[float(v) for v in line.split()] for line in ran(name, "predict", name, "--input", "texts", *options).stdout.splitlines()]


def compare(name, found, wanted):
    worst = max((abs(a - b) for f, w in zip(found, wanted) for a, b in zip(f, w)), default=1)
    if len(found) != len(wanted) or any(len(f) != len(w) for f, w in zip(found, wanted)) or worst > 2e-5:
        fail(name, f"vectors differ by {worst}: {found}")


LEGACY = {"cls": "cls_token", "max": "max_tokens", "mean": "mean_tokens", "mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
          "weightedmean": "weightedmean_tokens", "lasttoken": "lasttoken"}
WAYS = list(LEGACY)


def flags(*ways):
    return {"pooling_mode_" + key: way in ways for way, key in LEGACY.items()}


CASES = [(way, flags(way), [way], ()) for way in WAYS] + [
    ("newer", {"pooling_mode": "lasttoken"}, ["lasttoken"], ["Normalize"]),
    ("two", flags("mean", "cls"), ["cls", "mean"], ["Normalize"]),
    ("several", {"pooling_mode": ["mean", "cls", "weightedmean"]}, ["mean", "cls", "weightedmean"], ()),
    ("dense", flags("mean"), ["mean"], [layer("activation.Tanh", D, 6)]),
    ("dense_unit", flags("lasttoken"), ["lasttoken"], [layer("linear.Identity", D, 6, bias=False), "Normalize"]),
    ("layers", flags("mean", "max"), ["max", "mean"],
     ["Normalize", layer("activation.GELU", 2 * D, 9), "Dropout", layer("activation.SiLU", 9, 5, seed=400), "Normalize"]),
    ("relu", flags("mean"), ["mean"], [layer("activation.ReLU", D, 7), layer("activation.Sigmoid", 7, 3, seed=9)]),
]
SHORT = ("weightedmean", "lasttoken", "two", "dense", "layers")
for name, pooling, ways, modules in CASES:
    if short and name not in SHORT:
        continue
    folder(name, pooling, modules)
    run_name = name + ".run"
    said = ran(name, "import", name, "-o", run_name, *(["--copy"] if name == "layers" else [])).stderr
    if said:
        fail(name, said)
    wanted = [vector(text, ways, modules) for text in TEXTS]
    compare(name, predicted(run_name, TEXTS), wanted)
    ran(name, "export", run_name, "-o", name + ".back/")
    ran(name, "import", name + ".back", "-o", name + ".again")
    compare(name + ", exported", predicted(name + ".again", TEXTS), wanted)
    for path in ("modules.json", "1_Pooling/config.json", "2_Dense/config.json"):
        if os.path.exists(os.path.join(name, path)):
            with open(os.path.join(name, path), "rb") as a, open(os.path.join(name + ".back", path), "rb") as b:
                if a.read() != b.read():
                    fail(name, f"another {path} comes back")

# A run that was trained gives its layers back; what a GGUF has no place for is refused.
with open("pairs.tsv", "w", encoding="utf-8") as file:
    file.write("first\tsecond\nt3 t4\tt5\nt8 t9\tt5 t6\n")
ran("tuned", "train", "layers.run", "--out", "tuned", "--data", "pairs.tsv", "--steps", "3")
ran("tuned", "export", "tuned", "-o", "tuned.back/")
ran("tuned", "import", "tuned.back", "-o", "tuned.again")
compare("tuned", predicted("tuned.again", TEXTS), predicted("tuned", TEXTS))
if read_tensors("tuned.back/3_Dense/model.safetensors") == read_tensors("layers/3_Dense/model.safetensors"):
    fail("tuned", "the layer was not trained")
for name, pattern in (("dense", "has layers behind the pooling, and a GGUF has no place for them"), ("two", "by 'cls' and others; a GGUF says one of"),
                      ("weightedmean", "by 'weightedmean'; a GGUF says one of mean, cls and lasttoken")):
    done = run("export", name + ".run", "-o", "x.gguf")
    if done.returncode != 1 or pattern not in done.stderr:
        fail(name, done.stderr)

# ---- prompts ----
PROMPTS = {"query": "t3 t4 ", "passage": "t30 ", "plain": ""}
folder("asks", flags("mean"), ["Normalize"], {"prompts": PROMPTS, "default_prompt_name": None})
said = ran("asks", "import", "asks", "-o", "asks.run").stderr
if "note: tfc predict writes no prompt before texts; --prompt NAME does: query, passage, plain" not in said:
    fail("asks", said)
for prompt, text in PROMPTS.items():
    compare("--prompt " + prompt, predicted("asks.run", TEXTS, "--prompt", prompt), [vector(text + t, ["mean"], ["Normalize"]) for t in TEXTS])
compare("no prompt", predicted("asks.run", TEXTS), [vector(t, ["mean"], ["Normalize"]) for t in TEXTS])
folder("default", flags("mean"), (), {"prompts": PROMPTS, "default_prompt_name": "query"})
said = ran("default", "import", "default", "-o", "default.run").stderr
if "writes the prompt 'query' before each text, as the folder says: --prompt NAME takes another (query, passage, plain), --prompt '' none" not in said:
    fail("default", said)
compare("the default prompt", predicted("default.run", TEXTS), [vector("t3 t4 " + t, ["mean"], ()) for t in TEXTS])
compare("none", predicted("default.run", TEXTS, "--prompt", ""), [vector(t, ["mean"], ()) for t in TEXTS])
compare("another", predicted("default.run", TEXTS, "--prompt", "passage"), [vector("t30 " + t, ["mean"], ()) for t in TEXTS])
if "  prompt  query: 't3 t4 ', where --prompt names no other\n" not in ran("default", "info", "default.run").stdout:
    fail("default", "info does not show the prompts")
folder("apart", flags("mean") | {"include_prompt": False}, (), {"prompts": PROMPTS, "default_prompt_name": None})
ran("apart", "import", "apart", "-o", "apart.run")
compare("apart", predicted("apart.run", TEXTS), [vector(t, ["mean"], ()) for t in TEXTS])

# ---- what is not read ----
REFUSED = [
    ("no_prompt", flags("mean"), (), {"prompts": PROMPTS, "default_prompt_name": "qery"}, "\"default_prompt_name\" is \"qery\", which is none of its prompts .query, passage, plain."),
    ("listed", flags("mean"), (), {"prompts": ["a"]}, "\"prompts\": expected an object with a text for each name"),
    ("left_out", flags("mean") | {"include_prompt": False}, (), {"prompts": PROMPTS, "default_prompt_name": "query"}, "the prompt 'query' stands before each text .* and is not to be pooled"),
    ("other_way", flags("mean") | {"pooling_mode_median_tokens": True}, (), None, "tokens are pooled by \"pooling_mode_median_tokens\": models/sentences.tfg knows cls, max"),
    ("other_word", {"pooling_mode": ["mean", "median"]}, (), None, "tokens are pooled by \"median\""),
    ("numbered", {"pooling_mode": 3}, (), None, "\"pooling_mode\" is 3; expected a text"),
    ("lstm", flags("mean"), ["LSTM"], None, "module 2 is 'LSTM': those that are read are Transformer, then Pooling, then any of Dense, Normalize and Dropout"),
    ("softplus", flags("mean"), [layer("activation.Softplus", D, 4)], None, "\"activation_function\" is torch.nn.modules.activation.Softplus: layers behind"),
]
for name, pooling, modules, settings, pattern in REFUSED:
    folder(name, pooling, modules, settings)
    done = run("import", name, "-o", "no")
    if done.returncode != 1 or not re.search(pattern, done.stderr) or os.path.exists("no"):
        fail(name, f"{done.returncode}, no '{pattern}' in: {done.stderr}")


folder("second", flags("mean"), [layer("activation.Tanh", D, 4), layer("activation.Tanh", 4, 2)])
with open("second/3_Dense/config.json", encoding="utf-8") as file:
    second = json.load(file)
write(second | {"in_features": 5}, "second/3_Dense/config.json")
done = run("import", "second", "-o", "no")
if done.returncode != 1 or "\"in_features\" is 5, and the layer before it gives 4 numbers" not in done.stderr:
    fail("second", done.stderr)
folder("dimension", flags("mean") | {"word_embedding_dimension": 32})
said = ran("dimension", "import", "dimension", "-o", "dimension.run").stderr
if f"the pooling's \"word_embedding_dimension\" is 32, and the model's vectors have {D} numbers, which are taken" not in said:
    fail("dimension", said)
compare("dimension", predicted("dimension.run", TEXTS), [vector(t, ["mean"], ()) for t in TEXTS])


def refused_change(name, changed, pattern):
    """A change of the layer's config.json, or, where it is None, of modules.json's path."""
    folder(name, flags("mean"), [layer("activation.Tanh", D, 4)])
    path = os.path.join(name, "2_Dense/config.json" if changed else "modules.json")
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    if changed:
        value |= changed
    else:
        value[2]["path"] = "../2_Dense"
    write(value, path)
    done = run("import", name, "-o", "no")
    if done.returncode != 1 or not re.search(pattern, done.stderr) or os.path.exists("no"):
        fail(name, f"{done.returncode}, no '{pattern}' in: {done.stderr}")


refused_change("residual", {"use_residual": True}, "\"use_residual\" is true, which models/sentences.tfg does not do")
refused_change("tokens", {"module_input_name": "token_embeddings"}, "\"module_input_name\" is token_embeddings, which")
refused_change("width", {"out_features": 5}, "linear.weight")
refused_change("input", {"in_features": 3}, f"\"in_features\" of the first Dense is 3, and the pooling gives {D} numbers")
refused_change("no_input", {"in_features": "x"}, "\"in_features\" is \"x\"; expected a number")
refused_change("no_width", {"out_features": "x"}, "\"out_features\" is \"x\"; expected a number")
refused_change("outside", None, "the path of module 2 is ../2_Dense: expected the name of a folder within this one")
os.remove("width/2_Dense/model.safetensors")
done = run("import", "width", "-o", "no")
if "width/2_Dense: error: the module has no model.safetensors and no pytorch_model.bin" not in done.stderr:
    fail("width", done.stderr)
for option, pattern in (("qery", "--prompt qery: asks.run has no prompt of that name; did you mean 'query'?"),
                        ("document", "there are 'query', 'passage' and 'plain'")):
    done = run("predict", "asks.run", "--prompt", option, "--input", "texts")
    if done.returncode != 1 or pattern not in done.stderr:
        fail(option, done.stderr)
done = run("predict", "apart.run", "--prompt", "query", "--input", "texts")
if done.returncode != 1 or "the prompt 'query' is not to be pooled (include_prompt is false" not in done.stderr:
    fail("apart", done.stderr)

# ---- in a library ----
done = run("compile", "default.run", "-o", "libdefault.so", "--cpu", "x86-64-v2")
if done.returncode or "the library writes no prompt before texts, as tfc predict does: give it texts that begin with 't3 t4 '" not in done.stderr:
    fail("default", done.stderr)
if library and not short:
    names = [name for name, *_ in CASES if name in ("layers", "weightedmean", "lasttoken", "dense_unit", "several")]
    os.mkdir("lib")
    sys.path.insert(0, os.path.join(os.getcwd(), "lib"))
    for name in names:
        ran(name, "compile", name + ".run", "-o", f"lib/lib{name}.so", "--cpu", "x86-64-v2")
        with __import__(name).Model() as model:
            found = [list(model.predict(text)["vector"]) for text in TEXTS]
        compare(name + ", compiled", found, predicted(name + ".run", TEXTS))
print("pooling: as sentence-transformers has it")
