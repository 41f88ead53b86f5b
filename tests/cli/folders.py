"""Published folders, for tests/cli/folders.sh: tiny ones are made and imported, a row each, with what import says of it.

    folders.py TFC FIXTURES [short]    in an empty folder

What is expected of a row is one of
    same OTHER         the model and the rules of the run of the folder OTHER, and no message but of the keys of trainers
    warns PATTERN      imported, with one warning
    refused PATTERN    exit status 1, and nothing is left
    line LINE          imported without a message; a line of model.tfg
    ids TEXT|TOKENS    imported without a message; the tokens of the text
"""
import json
import math
import os
import re
import struct
import subprocess
import sys

tfc, fixtures, *short = sys.argv[1:]
ROWS = []
# Keys that trainers and hubs leave in a config.json: the last two are known to nobody.
TRAINERS = {"unsloth_version": "2025.1.1", "_attn_implementation_autoset": True, "finetuning_task": "x",
            "freeze_encoder": True, "uniem_embedding_strategy": "last_mean"}
SPECIAL = {7: "[MASK]", 8: "<mask>", 39: "<pad>"}


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(value, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        json.dump(value, file)


def newer(family, config):
    """The config.json as transformers 5 writes it."""
    path = os.path.join(fixtures, "published/transformers-5", family + ".json")
    if os.path.exists(path):
        return read_json(path)
    config = dict(config) | {"transformers_version": "5.17.0", "dtype": config.get("torch_dtype", "float32")}
    config.pop("torch_dtype", None)
    if "global_rope_theta" in config:
        config["rope_parameters"] = {kind + "_attention": {"rope_type": "default", "rope_theta": config.pop(key)}
                                     for kind, key in (("full", "global_rope_theta"), ("sliding", "local_rope_theta"))}
    elif "rope_theta" in config or "rope_scaling" in config:
        scaling = dict(config.pop("rope_scaling", None) or {})
        scaling["rope_type"] = scaling.pop("type", None) or scaling.get("rope_type", "default")
        config["rope_parameters"] = scaling | {"rope_theta": config.pop("rope_theta", 10000.0)}
    return config


def words(size):
    """A tokenizer.json of whole words."""
    vocab = {"</s>": 0, "<s>": 1} | {SPECIAL.get(i, f"t{i}"): i for i in range(2, size)}
    return {"version": "1.0", "added_tokens": [token(i, t, True) for i, t in enumerate(("</s>", "<s>"))], "normalizer": None,
            "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
            "model": {"type": "WordLevel", "unk_token": "t2", "vocab": vocab}}


def token(i, text, special):
    return {"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": special}


def write_weights(family, size, path):
    """The params of a fixture; with a size, tables of tokens with so many rows."""
    with open(os.path.join(fixtures, family + "_published.safetensors"), "rb") as file:
        data = file.read()
    end = 8 + struct.unpack_from("<Q", data)[0]
    header, body, at, kept, new = json.loads(data[8:end]), data[end:], 0, [], {}
    for name, about in header.items():
        if name[1:2] == "." or name in ("__metadata__", "logits", "vector", "losses", "long"):  # not of the model
            continue
        shape, values = about["shape"], body[slice(*about["data_offsets"])]
        axis = int(name == "final_logits_bias")
        if size and shape[axis:] and shape[axis] in (38, 40):
            width = len(values) // shape[axis]
            values = (values * (size // shape[axis] + 1))[:size * width]
            shape = shape[:axis] + [size] + shape[axis + 1:]
        new[name] = about | {"shape": shape, "data_offsets": [at, at + len(values)]}
        kept.append(values)
        at += len(values)
    text = json.dumps(new).encode()
    with open(os.path.join(path, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(kept))


def folder(name, family, config, tokenizer=True, size=None):
    """The folder of a fixture's weights with this config.json."""
    path = name
    os.makedirs(path)
    write_weights(family, size, path)
    write_json(config, path, "config.json")
    if family == "byt5":
        write_json({"tokenizer_class": "ByT5Tokenizer"}, path, "tokenizer_config.json")
    elif tokenizer:
        write_json(words(int(config["vocab_size"])), path, "tokenizer.json")
    if family in ("minilm", "bge"):
        modules = ["Transformer", "Pooling"]
        write_json([{"idx": i, "name": str(i), "path": "1_Pooling" if i else "", "type": f"sentence_transformers.models.{module}"}
                    for i, module in enumerate(modules)], path, "modules.json")
        os.makedirs(os.path.join(path, "1_Pooling"))
        write_json({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}, path, "1_Pooling", "config.json")
    return path


def published(family):
    return read_json(os.path.join(fixtures, "published", family + ".json"))


def row(name, expected):
    ROWS.append((name, *expected.split(" ", 1)))


# ---- each family: as transformers 4 and as transformers 5 write it, with keys of trainers ----
families = sorted(name[:-5] for name in os.listdir(os.path.join(fixtures, "published")) if name.endswith(".json"))
for family in families[::6] if short else families:
    config = published(family)
    folder(family, family, config)
    folder(family + ".4", family, config | TRAINERS)
    folder(family + ".5", family, newer(family, config) | TRAINERS)
    row(family + ".4", f"same {family}")
    row(family + ".5", f"same {family}")

# ---- what a config.json says otherwise ----
ROPE = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}
CHANGES = [
    ("mscale", "yarn", {"rope_scaling": ROPE | {"mscale": 1.0, "mscale_all_dim": 0.8}}, "line const rope_mscale_all = 0.8"),
    ("truncate", "yarn", {"rope_scaling": ROPE | {"truncate": False}}, "line const rope_truncated = false"),
    ("below", "yarn", {"rope_scaling": ROPE | {"factor": 0.5}}, "line const rope_factor = 0.5"),
    ("part", "llama", {"rope_scaling": ROPE | {"partial_rotary_factor": 0.5}}, "refused \"rope_scaling.partial_rotary_factor\" is 0.5"),
    ("whole", "llama", {"hidden_size": 16.0, "vocab_size": 40.0, "bos_token_id": 1.0}, "same llama.plain"),
    ("python", "gpt2", {"activation_function": "gelu_python"}, "line block activation(x) { return gelu(x) }"),
    ("fast", "gpt2", {"activation_function": "gelu_fast"}, "line block activation(x) { return gelu_tanh(x) }"),
    ("quick", "gpt2", {"activation_function": "quick_gelu"}, "line block activation(x) { return x * sigmoid(1.702 * x) }"),
    ("swish", "llama", {"hidden_act": "swish"}, "same llama.plain"),
    ("begin", "gpt2", {"bos_token_id": 50256}, "warns \"bos_token_id\" is 50256, but the vocabulary has 40 tokens: it names none"),
    ("end", "llama", {"eos_token_id": [0, 128009]}, "warns \"eos_token_id\" has 128009, but the vocabulary has 40 tokens: it names none"),
    ("no_token", "llama", {"bos_token_id": "<s>"}, "refused \"bos_token_id\" is \"<s>\", but the vocabulary has 40 tokens"),
    ("gptq", "llama", {"quantization_config": {"quant_method": "gptq", "bits": 4}}, "refused \"quantization_config\" says that GPTQ has packed the weights"),
    ("awq", "llama", {"quantization_config": {"quant_method": "awq", "bits": 4}}, "refused says that AWQ has packed the weights, which tfc does not read: import the folder"),
    ("bnb", "llama", {"quantization_config": {"load_in_4bit": True}}, "refused says that bitsandbytes has packed .* unpack them first .transformers: model.dequantize.*"),
    ("hqq", "llama", {"quantization_config": {"quant_method": "hqq"}}, "refused says that hqq has packed the weights"),
    ("answers", "bert", {"architectures": ["BertForQuestionAnswering"]}, "refused the head of BertForQuestionAnswering .* is not read: \"BertModel\" in its place"),
    ("choices", "roberta", {"architectures": ["RobertaForMultipleChoice"]}, "refused the head of RobertaForMultipleChoice .* is not read"),
    ("vectors_of_answers", "minilm", {"architectures": ["BertForQuestionAnswering"]}, "refused the head of BertForQuestionAnswering .* is not read: \"BertModel\" in its place"),
    ("vectors_of_classes", "bge", {"architectures": ["BertForSequenceClassification"]}, "refused the head of BertForSequenceClassification .* is not read: \"BertModel\""),
    ("vectors_of_masked", "minilm", {"architectures": ["BertForMaskedLM"]}, "line const pooling = \"mean\""),
    ("vectors_of_own", "minilm", {"architectures": ["NewModel"], "new_trick": 1}, "refused \"new_trick\" may change what"),
    ("next", "bert", {"architectures": ["BertForNextSentencePrediction"]}, "refused the head of BertForNextSentencePrediction"),
    ("classes", "llama", {"architectures": ["LlamaForSequenceClassification"]}, "refused the head of LlamaForSequenceClassification .* is not read\n"),
    ("modern_tags", "modern", {"architectures": ["ModernBertForTokenClassification"]}, "refused the head of ModernBertForTokenClassification"),
    ("uses", "llama", {"pruned_heads": {"0": [1]}}, "refused \"pruned_heads\" is"),
    ("unknown", "llama", {"new_trick": 1}, "warns \"new_trick\" is left unread"),
    ("own_class", "llama", {"new_trick": 1, "auto_map": {"AutoModel": "x.Y"}}, "refused \"new_trick\" may change what"),
    ("rows", "llama", {"vocab_size": 40}, "warns \"vocab_size\" is 40, and the tokenizer has 42 tokens: a text with tokens such as 't40' is an error"),
    ("nul", "llama", {"vocab_size": 40}, "same llama.plain"),
]
folder("llama.plain", "llama", published("llama"))
for name, family, change, expected in CHANGES:
    path = folder(name, family, published(family) | change)
    if name == "rows":
        write_json(words(42), path, "tokenizer.json")
    if name == "nul":
        tokenizer = words(40)
        tokenizer["model"]["vocab"] = {"t\0" if text == "t9" else text: i for text, i in tokenizer["model"]["vocab"].items()}
        write_json(tokenizer, path, "tokenizer.json")
    row(name, expected)

# ---- tokenizers as lists ----
CUT = ["the", "a", "##s", "fox", "e", "!", "E", "\u00e9t\u00e9", "ete", "\u4e2d", "\u6587"]
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *CUT]
SHOWN = [*range(33, 127), *range(161, 173), *range(174, 256)]
OTHERS = iter(range(256, 512))
BYTES = [chr(b if b in SHOWN else next(OTHERS)) for b in range(256)]
MERGES = ["#version: 0.2", "\u0120 a", "a b", "1 2", "\u0120a b", ""]
SIZE = 266  # of all lists, so that one program reads their tokens
PIECES = BYTES + ["\u0120a", "ab", "12", "\u0120ab"]


def bare(name, family, config, size):
    """A folder without a tokenizer, whose tables have rows for `size` tokens."""
    return folder(name, family, published(family) | config | {"vocab_size": size}, tokenizer=False, size=size)


def put_lines(lines, *path):
    with open(os.path.join(*path), "w", encoding="utf-8", newline="") as file:
        file.write("\n".join(lines) + "\n")


def word_list(name, expected, family="bert", tokens=BERT, settings=None, config=None, ends="\n"):
    path = bare(name, family, {"pad_token_id": 0} | (config or {}), SIZE)
    put_lines([line + ends[:-1] for line in tokens + [f"[unused{i}]" for i in range(SIZE - len(tokens))]], path, "vocab.txt")
    if settings is not None:
        write_json(settings, path, "tokenizer_config.json")
    row(name, expected)


def byte_list(name, expected, family, special, settings=None, config=None):
    ids = {f"{key}_token_id": len(PIECES) + special.index(text)
           for key, text in (("bos", special[0]), ("eos", special[-1 if len(special) < 2 else 1]), ("pad", "<pad>")) if text in special}
    path = bare(name, family, ids | (config or {}), SIZE)
    more = [f"unused{i}" for i in range(SIZE - len(PIECES) - len(special))]
    write_json({piece: i for i, piece in enumerate(PIECES + special + more)}, path, "vocab.json")
    put_lines(MERGES, path, "merges.txt")
    if settings is not None:
        write_json(settings, path, "tokenizer_config.json")
    row(name, expected)


word_list("words", "ids The foxs \u00e9t\u00e9!|[CLS] the fox ##s ete ! [SEP]")
word_list("words.crlf", "ids the|[CLS] the [SEP]", ends="\r\n")
word_list("words.capitals", "ids E \u00e9t\u00e9 The|[CLS] E \u00e9t\u00e9 [UNK] [SEP]", settings={"do_lower_case": False})
word_list("words.accents", "ids \u00c9t\u00e9|[CLS] \u00e9t\u00e9 [SEP]", settings={"strip_accents": False})
word_list("words.ideographs", "ids \u4e2d\u6587|[CLS] \u4e2d \u6587 [SEP]")
word_list("words.joined", "ids \u4e2d\u6587|[CLS] [UNK] [SEP]", settings={"tokenize_chinese_chars": False})
word_list("words.named", "ids a|<a> a <z> [SEP]".replace(" [SEP]", ""), tokens=["[PAD]", "[UNK]", "<a>", "<z>", "[MASK]", *CUT],
          settings={"cls_token": "<a>", "sep_token": {"content": "<z>"}})
word_list("words.distil", "ids a fox|[CLS] a fox [SEP]", family="distilbert")
word_list("words.without", "refused the vocabulary has no token '.CLS.', its \"cls_token\"", tokens=["[PAD]", "[UNK]", "[MASK]", *CUT])
word_list("words.japanese", "refused does not know how its tokenizer_class BertJapaneseTokenizer uses them", settings={"tokenizer_class": "BertJapaneseTokenizer"})
word_list("words.basic", "refused \"do_basic_tokenize\" is false", settings={"do_basic_tokenize": False})
byte_list("bytes", "ids ab ab 12|ab \u0120ab \u0120 12", "gpt2", ["<|endoftext|>"])
byte_list("bytes.prefix", "ids ab|\u0120ab", "gpt2", ["<|endoftext|>"], settings={"add_prefix_space": True})
byte_list("bytes.digits", "ids ab12|ab 1 2", "qwen2", ["<|endoftext|>"])
byte_list("bytes.roberta", "ids ab <mask>|<s> ab <mask> </s>", "roberta", ["<s>", "</s>", "<unk>", "<pad>", "<mask>"])
byte_list("bytes.bart", "ids ab|<s> ab </s>", "bart", ["<s>", "</s>", "<unk>", "<pad>", "<mask>"],
          config={"decoder_start_token_id": 261})
byte_list("bytes.llama", "refused vocab.json and merges.txt, but tfc does not know how its model_type llama uses them", "llama", ["<|endoftext|>"])


# ---- what import says ----
def fail(name, text):
    sys.exit(f"FAILED: {name}: {text}")


def run(*command):
    return subprocess.run([tfc, *command], capture_output=True, text=True, encoding="utf-8", errors="replace")


def imported(name):
    """What is said while the folder NAME becomes the run NAME.run."""
    done = run("import", name, "-o", name + ".run")
    if done.returncode:
        fail(name, done.stderr)
    return done.stderr


def read_lines(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read().splitlines()


def about(name):
    """What a run is: its model and the rules of its texts. Newer files say of all models that positions are not scaled."""
    left_out = ("# From", "model ", 'const rope_type = "default"')
    lines = [line for line in read_lines(name + ".run", "model.tfg") if not line.startswith(left_out)]
    record = read_json(name + ".run/run.json")
    return lines + record["tokens"] + record["generation"]


def same(name, other):
    said = [line for line in imported(name).splitlines() if "note: " not in line]
    if "freeze_encoder" in read_json(name + "/config.json"):
        if len(said) != 1 or '"freeze_encoder", "uniem_embedding_strategy" are left unread' not in said[0]:
            fail(name, said)
    elif said:
        fail(name, said)
    if not os.path.exists(other + ".run"):
        imported(other)
    if about(name) != about(other):
        fail(name, f"another model than {other}: {about(name)}, not {about(other)}")


def warns(name, pattern):
    said = imported(name)
    if len(said.splitlines()) != 1 or not re.search("warning: .*" + pattern, said):
        fail(name, f"no '{pattern}' in: {said}")


def refused(name, pattern):
    done = run("import", name, "-o", "no")
    if done.returncode != 1 or not re.search(pattern, done.stderr) or os.path.exists("no"):
        fail(name, f"{done.returncode}, no '{pattern}' in: {done.stderr}")


def line(name, expected):
    said = imported(name)
    if said or expected not in read_lines(name + ".run", "model.tfg"):
        fail(name, f"no '{expected}': {said}")


IDS = """model ids
dim B, T
const vocab = 0
input tokens : token[B, T~]
param e : [vocab, 1] = zeros
output logits = e[tokens] @ transpose(e)
loss = cross_entropy(logits, next(tokens))
"""


def ids(name, expected):
    """The tokens of a text are those that a model without a rule of texts is asked to predict, in the frame of the run."""
    text, tokens = expected.split("|", 1)
    said = imported(name)
    put_lines([text], "text.txt")
    done = run("score", "ids.tfg", "--weights", "ids.safetensors", "--vocab", name + ".run/tokenizer.json", "--text", "text.txt",
               "--token-scores", "--token", "text-begin=#0", "--token", "text-end=none")
    if said or done.returncode:
        fail(name, said + done.stderr)
    rules = dict(rule.split("=", 1) for rule in read_json(name + ".run/run.json")["tokens"])
    frame = read_json(name + ".run/tokenizer.json").get("post_processor") if "source-begin" in rules else None
    after = [item["SpecialToken"]["id"] for item in frame["single"][2:]] if frame else []
    found = [rules.get("source-begin")] * bool(frame) + [token for token, _ in json.loads(done.stdout)["tokens"]] + after
    if " ".join(found) != tokens:
        fail(name, f"'{text}' is {found}")


# ---- YaRN's turns, by transformers' modeling_rope_utils (_compute_yarn_parameters) ----
TURNS = """model turns
use "MODELS/llama.tfg"
const vocab = 40, layers = 1, d_model = 16, d_ff = 8, heads = 1, kv_heads = 1, d_k = 16, rotary_base = 100
const rope_type = "yarn", rope_context = 32, rope_fast = 8
output turns = frequencies(d_k, false) * turn_scale()
"""


def yarn_turns(factor, truncate, mscale, all_dims, dim=16, base=100, longest=32, fast=8, slow=1):
    low, high = (dim * math.log(longest / (turns * 2 * math.pi)) / (2 * math.log(base)) for turns in (fast, slow))
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)

    def scale(weight):
        return 1 if factor <= 1 else 0.1 * weight * math.log(factor) + 1

    by = scale(mscale) / scale(all_dims) if mscale and all_dims else scale(1)
    kept = [1 - min(max((i - low) / (high - low), 0), 1) for i in range(dim // 2)]
    return [by * base ** (-2 * i / dim) * (k + (1 - k) / factor) for i, k in enumerate(kept)]


def turns(factor, truncate, mscale, all_dims):
    settings = {"rope_factor": factor, "rope_truncated": str(truncate).lower(), "rope_mscale": mscale, "rope_mscale_all": all_dims}
    name = f"turns {settings}"
    done = run("run", "turns.tfg", "--in", "tokens.safetensors", "--out", "turns.safetensors",
               *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")))
    if done.returncode:
        fail(name, done.stderr)
    with open("turns.safetensors", "rb") as file:
        data = file.read()
    end = 8 + struct.unpack_from("<Q", data)[0]
    found = struct.unpack_from("<8f", data, end + json.loads(data[8:end])["turns"]["data_offsets"][0])
    wanted = yarn_turns(factor, truncate, mscale, all_dims)
    if any(abs(a - b) > 1e-6 * b for a, b in zip(found, wanted)):
        fail(name, f"{found}, not {wanted}")


put_lines([TURNS.replace("MODELS", os.path.join(fixtures, "../../models"))], "turns.tfg")
header = json.dumps({"tokens": {"dtype": "I32", "shape": [1, 2], "data_offsets": [0, 8]}}).encode()
with open("tokens.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + bytes(8))
for case in [(4, False, 1, 0.5), (0.5, True, 0, 0)] if short else [(4, False, 1, 0.5), (0.5, True, 0, 0), (4, True, 0, 0), (4, True, 1, 0.5)]:
    turns(*case)

put_lines([IDS], "ids.tfg")
header = json.dumps({"e": {"dtype": "F32", "shape": [SIZE, 1], "data_offsets": [0, 4 * SIZE]}}).encode()
with open("ids.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + bytes(4 * SIZE))
for name, kind, expected in ROWS:
    {"same": same, "warns": warns, "refused": refused, "line": line, "ids": ids}[kind](name, expected)
if not short and len(ROWS) < 100:
    fail("the table", f"only {len(ROWS)} rows")
print(f"folders: {len(ROWS)}")
