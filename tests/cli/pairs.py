"""Cross-encoders, for tests/cli/pairs.sh: folders of two texts read together, against the forward pass in f64, which on one
text gives the logits that transformers gave (tests/fixtures/make_published.py).

    pairs.py TFC FIXTURES [short]    in an empty folder
"""
import json
import math
import os
import re
import sys

from encoder_f64 import Encoder, read_tensors, softmax, words, write, write_weights
from ran import fail, ran, run

_, fixtures, *short = sys.argv[1:]
PAIRS = [("t3 t4", "t5 t6 t7"), ("t8", "t9 t10 t11 t12 t13 t14 t15 t16 t17 t18 t19 t20"),
         ("t21 t22 t23 t24 t25 t26 t27 t28 t29 t30 t31", "t3"), ("t3 t4 t5 t6 t7 t8 t9", "t9 t8 t7 t6 t5 t4 t3 t11"),
         ("t3 t4 t5 t6 t7 t8 t9 t10", "t9 t8 t7 t6 t5 t4"), ("t3 t4 t5 t6 t7 t8", "t9 t8 t7 t6 t5 t4"), ("", "t5"), ("t5", "")]

# ---- pairs ----
def cut(a, b, most):
    """The longest first, as Hugging Face's tokenizers cut (truncation.rs of tokenizers)."""
    n, m = sorted((len(a), len(b)))
    m = n if n > most else max(n, most - n) if n + m > most else m
    if n + m > most:
        n, m = most // 2, most - most // 2
    return (a[:m], b[:n]) if len(a) > len(b) else (a[:n], b[:m])


def ids_of(text):
    return [int(word[1:]) for word in text.split()]


def pair_of(kind, first, second, most):
    """[CLS] a [SEP] b [SEP], with segments; <s> a </s> </s> b </s> with one."""
    two = kind == "roberta"
    a, b = cut(ids_of(first), ids_of(second), most - 3 - two)
    ids = [1, *a, 0, *[0] * two, *b, 0]
    return ids, [0 if two else int(i > len(a) + 1) for i in range(len(ids))]


def config_of(family):
    with open(os.path.join(fixtures, "published", family + ".json"), encoding="utf-8") as file:
        return json.load(file)


def tensors_of(family):
    return read_tensors(os.path.join(fixtures, family + "_published.safetensors"))


def folder(name, family, change, tokenizer=None, own=None):
    os.makedirs(name)
    config = {key: value for key, value in config_of(family).items() if key != "problem_type"} | change
    write(config, name, "config.json")
    write(tokenizer or words(config["model_type"]), name, "tokenizer.json")
    if own:
        write(own, name, "config_sentence_transformers.json")
        write([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"}], name, "modules.json")
    write_weights(os.path.join(fixtures, family + "_published.safetensors"), name, "model.safetensors")
    return name


def check_alone(family):
    """The forward pass on one text, beside transformers' logits."""
    tensors = tensors_of(family)
    encoder = Encoder(config_of(family), tensors)
    for row, n, wanted in zip(tensors["0.text"], tensors["0.text.lengths"], tensors["logits"]):
        found = encoder.logits(row[:n], [0] * n)
        if any(abs(a - b) > 1e-5 for a, b in zip(found, wanted)):
            fail(family, f"the forward pass gives {found}, and transformers {wanted}")


def predicted(name):
    done = ran(name, "predict", name + ".run", "--input", "pairs.tsv", "--json", "--top", "9")
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def value_of(record):
    """The score, or the labels' probabilities in the order of their names."""
    return [record["score"]] if "score" in record else [p for _, p in sorted(record["class"])]


def check_pairs(name, family, function, options=()):
    """The pairs' predictions beside the forward pass, and what is said of those that are cut."""
    config = config_of(family)
    ran(name, "import", name, "-o", name + ".run", *options)
    encoder, most = Encoder(config, tensors_of(family)), 12
    found, said = predicted(name)
    labels = config["id2label"]
    order = [i for _, i in sorted((label, int(i)) for i, label in labels.items())]
    worst = n_cut = 0
    for pair, record in zip(PAIRS, found):
        ids, segments = pair_of(config["model_type"], *pair, most)
        n_cut += len(ids_of(pair[0]) + ids_of(pair[1])) > most - 3 - (config["model_type"] == "roberta")
        logits = function(encoder.logits(ids, segments))
        wanted = [logits[i] for i in order]
        worst = max([worst, *(abs(a - b) for a, b in zip(value_of(record), wanted))])
    if len(found) != len(PAIRS) or worst > 1e-5:
        fail(name, f"predictions differ by {worst}: {found}")
    if f"{n_cut} of {len(PAIRS)} lines are longer than {most} tokens and cut (the first on line 3)" not in said:
        fail(name, f"what is cut is not said ({n_cut}): {said}")


def refused(name, pattern, *options):
    done = run("import", name, "-o", "no", *options)
    if done.returncode != 1 or not re.search(pattern, done.stderr) or os.path.exists("no"):
        fail(name, f"{done.returncode}, no '{pattern}' in: {done.stderr}")


def identity(x):
    return x


def sigmoid(x):
    return [1 / (1 + math.exp(-v)) for v in x]


with open("pairs.tsv", "w", encoding="utf-8") as file:
    file.write("first\tsecond\n" + "".join(f"{a}\t{b}\n" for a, b in PAIRS))
for family in ("bert_scores", "roberta_scores", "bert_classes", "roberta_classes", "distilbert_classes", "albert_classes"):
    check_alone(family)

NEWER, OLDER = "sentence_transformers", "sbert_ce_default_activation_function"
IDENTITY, SIGMOID = "torch.nn.modules.linear.Identity", "torch.nn.modules.activation.Sigmoid"
CASES = [("number", "bert_scores", {NEWER: {"activation_fn": IDENTITY, "version": "5.1.0"}}, identity),
         ("older", "bert_scores", {OLDER: IDENTITY}, identity),
         ("probable", "bert_scores", {NEWER: {"version": "5.1.0"}}, sigmoid),
         ("two", "roberta_scores", {NEWER: {"activation_fn": SIGMOID}}, sigmoid),
         ("classes", "bert_classes", {OLDER: IDENTITY}, softmax),
         ("two_classes", "roberta_classes", {NEWER: {"activation_fn": IDENTITY}}, softmax),
         ("independent", "distilbert_classes", {NEWER: {"activation_fn": SIGMOID}}, sigmoid),
         ("narrow", "albert_classes", {OLDER: IDENTITY}, softmax)]
for name, family, change, function in CASES:
    if short and name not in ("number", "two", "classes"):
        continue
    check_pairs(folder(name, family, change), family, function)
check_pairs(folder("newest", "bert_scores", {}, own={"model_type": "CrossEncoder", "activation_fn": IDENTITY}), "bert_scores", identity)
check_pairs(folder("unsaid", "roberta_scores", {}), "roberta_scores", sigmoid, ("--pairs",))

# ---- what is not read ----
odd = words("bert")
odd["post_processor"]["pair"][2]["SpecialToken"]["id"] = "<s>"
refused(folder("odd", "bert_scores", {OLDER: IDENTITY}, odd), "the template of pairs in tokenizer.json is of another form than those")
odd = words("bert")
odd["post_processor"]["pair"][3]["Sequence"]["type_id"] = 0
refused(folder("one_segment", "bert_scores", {OLDER: IDENTITY}, odd), "the template of pairs in tokenizer.json is of another form")
refused(folder("tanh", "bert_scores", {OLDER: "torch.nn.modules.activation.Tanh"}),
        "the function of its scores is torch.nn.modules.activation.Tanh: models/pair_scores.tfg knows Sigmoid and Identity")
ran("plain", "import", folder("plain", "bert_scores", {}), "-o", "plain.run")
refused(folder("no_head", "bert_scores", {"architectures": ["BertModel"]}), "bert .BertModel. reads no pairs of texts: classes that end in", "--pairs")

# ---- what becomes of a run ----
with open("train.tsv", "w", encoding="utf-8") as file:
    file.write("first\tsecond\tscore\nt3 t4\tt5\t1\nt8 t9\tt5 t6\t0\n")


def after(source, *options):
    """The predictions of a run that was trained for some steps, and those of its export."""
    name = f"{source}.{len(os.listdir())}"
    ran(name, "train", source + ".run", "--out", name + ".run", "--data", "train.tsv", "--steps", "3", *options)
    ran(name, "export", name + ".run", "-o", name + "/")
    ran(name, "import", name, "-o", name + ".again.run")
    first, second = predicted(name)[0], predicted(name + ".again")[0]
    if first != second:
        fail(name, f"the exported folder gives {second}, not {first}")
    return name


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


name = after("number")
if read(name, "config.json") != read("number", "config.json"):
    fail(name, "another config.json comes back")
if read(after("number", "--set", "probable=true"), "config.json")[NEWER]["activation_fn"] != SIGMOID:
    fail("number", "the function is not written")
if not short and read(after("older", "--set", "probable=true"), "config.json")[OLDER] != SIGMOID:
    fail("older", "the function is not written")
if not short and read(after("newest", "--set", "probable=true"), "config_sentence_transformers.json")["activation_fn"] != SIGMOID:
    fail("newest", "the function is not written")
if read(after("number", "--set", "longest=9"), "tokenizer_config.json")["model_max_length"] != 9:
    fail("number", "the longest pair is not written")
if not short:
    after("unsaid")
with open("long.tsv", "w", encoding="utf-8") as file:
    file.write("first\tsecond\tscore\n" + "".join(f"{a}\t{b}\t1\n" for a, b in PAIRS if a and b))
done = ran("prepare", "prepare", "number.run/model.tfg", "--data", "long.tsv", "--vocab", "number.run", "-o", "prepared")
if "5 of 6 records left out whose texts, joined, are longer than the model's positions" not in done.stderr:
    fail("prepare", done.stderr)
ran("prepared", "train", "number.run", "--out", "prepared.run", "--prepared", "prepared", "--steps", "2")
done = ran("train", "train", "number.run", "--out", "long.run", "--data", "long.tsv", "--steps", "2")
if "5 of 6 lines are longer than 12 tokens and are left out" not in done.stderr:
    fail("train", done.stderr)
done = run("eval", "number.run", "--data", "train.tsv", "--json")
if done.returncode or json.loads(done.stdout)["records"] != 2:
    fail("eval", done.stderr + done.stdout)
print("pairs: as PyTorch computes them")
