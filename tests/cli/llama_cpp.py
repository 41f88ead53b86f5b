"""A small published model of random weights, with a tokenizer that llama.cpp reads, too.

    llama_cpp.py KIND FOLDER        KIND: a key of KINDS, gpt2, t5, flan, mt5 or bert
"""
import json
import os
import random
import struct
import sys

D, LAYERS, HEADS, KEYS, INNER, CONTEXT = 64, 2, 4, 2, 96, 128
WORDS = ["\u2581t", "he", "in", "an", "\u2581a", "\u2581the", "er", "re", "on", "\u2581s", "\u2581"]
MERGES = [("t", "h"), ("\u0120", "t"), ("h", "e"), ("\u0120t", "he"), ("i", "n"), ("\u0120", "a"), ("e", "r"), ("s", "e")]


def field(number, content):
    """A field of a protocol buffer."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    if isinstance(content, float):
        return varint(number << 3 | 5) + struct.pack("<f", content)
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def write_pieces(folder, is_unigram=False):
    """tokenizer.model: three special tokens, all bytes, pieces; its number of tokens."""
    pieces = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)] + [(f"<0x{i:02X}>", 0.0, 6) for i in range(256)]
    pieces += [(word, -float(i), 1) for i, word in enumerate(WORDS + [chr(97 + i) for i in range(26)])]
    model = b"".join(field(1, field(1, piece.encode()) + field(2, score) + field(3, kind)) for piece, score, kind in pieces)
    model += field(2, field(3, 1 if is_unigram else 2) + field(35, 1) + field(40, 0) + field(41, 1) + field(42, 2))
    with open(os.path.join(folder, "tokenizer.model"), "wb") as file:
        file.write(model + field(3, field(3, 1) + field(4, 0) + field(5, 1)))
    return len(pieces)


def write_bytes(folder):
    """tokenizer.json: the letters that stand for bytes, merges, and the end of a text; its number of tokens."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    vocab = [chr(b if b in shown else next(others)) for b in range(256)] + [a + b for a, b in MERGES] + ["<|endoftext|>"]
    end = len(vocab) - 1
    cut = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = {"id": end, "content": vocab[-1], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
             "special": True}
    model = {"type": "BPE", "vocab": {t: i for i, t in enumerate(vocab)}, "merges": [f"{a} {b}" for a, b in MERGES]}
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump({"version": "1.0", "added_tokens": [added], "normalizer": None, "pre_tokenizer": cut, "post_processor": None,
                   "decoder": cut, "model": model}, file)
    return len(vocab)


# What config.json has beside CONFIG. head: its width; norms: where they stand; names: of the config's model_type
CONFIG = {"hidden_size": D, "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
          "num_key_value_heads": KEYS, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "bos_token_id": 1, "eos_token_id": 2,
          "tie_word_embeddings": False, "max_position_embeddings": CONTEXT}
GEMMA = {"head_dim": 32, "hidden_activation": "gelu_pytorch_tanh", "tie_word_embeddings": True}
WINDOWS = {"query_pre_attn_scalar": 32, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}
KINDS = {
    "llama": {},
    "llama31": {"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                 "original_max_position_embeddings": 32}},
    "linear": {"rope_scaling": {"rope_type": "linear", "factor": 3.0}},
    "yarn": {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}},
    "llama_biased": {"attention_bias": True, "mlp_bias": True},
    "smollm3": {"tie_word_embeddings": True, "no_rope_layers": [1, 1, 1, 0], "num_hidden_layers": 4},
    "mistral": {"sliding_window": 8},  # llama.cpp computes no window
    "padded": {},  # with rows for tokens that the tokenizer has not
    "qwen2": {},
    "qwen3": {"head_dim": 32},
    "phi3": {"partial_rotary_factor": 0.5, "pad_token_id": 0},
    "olmo2": {},
    "gemma": GEMMA,
    "gemma2": GEMMA | WINDOWS | {"attn_logit_softcapping": 20.0, "final_logit_softcapping": 10.0},
    "gemma3_text": GEMMA | WINDOWS | {"rope_theta": 1000000.0, "rope_local_base_freq": 1000.0, "rms_norm_eps": 1e-6},
}
TYPES = {"llama31": "llama", "llama_biased": "llama", "linear": "llama", "yarn": "llama", "padded": "llama", "flan": "t5"}


def gpt2_shapes(vocab):
    shapes = {"transformer.wte.weight": [vocab, D], "transformer.wpe.weight": [CONTEXT, D]}
    norms = ["transformer.ln_f"] + [f"transformer.h.{i}.{n}" for i in range(LAYERS) for n in ("ln_1", "ln_2")]
    shapes |= {f"{norm}.{part}": [D] for norm in norms for part in ("weight", "bias")}
    for i in range(LAYERS):
        for name, a, b in (("attn.c_attn", D, 3 * D), ("attn.c_proj", D, D), ("mlp.c_fc", D, 4 * D), ("mlp.c_proj", 4 * D, D)):
            shapes |= {f"transformer.h.{i}.{name}.weight": [a, b], f"transformer.h.{i}.{name}.bias": [b]}
    return shapes


def t5_shapes(vocab):
    shapes = {"shared.weight": [vocab, D]}
    for side, n in (("encoder", 2), ("decoder", 3)):
        shapes[f"{side}.final_layer_norm.weight"] = [D]
        shapes[f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = [32, HEADS]
        for i in range(LAYERS):
            front = f"{side}.block.{i}.layer."
            shapes |= {f"{front}{j}.layer_norm.weight": [D] for j in range(n)}
            for j, name in enumerate(("SelfAttention", "EncDecAttention")[:n - 1]):
                shapes |= {f"{front}{j}.{name}.{part}.weight": [D, D] for part in "qkvo"}
            shapes |= {f"{front}{n - 1}.DenseReluDense.{part}.weight": [INNER, D] for part in ("wi_0", "wi_1")}
            shapes[f"{front}{n - 1}.DenseReluDense.wo.weight"] = [D, INNER]
    return shapes


def bert_shapes(vocab):
    shapes = {"embeddings.word_embeddings.weight": [vocab, D], "embeddings.position_embeddings.weight": [CONTEXT, D],
              "embeddings.token_type_embeddings.weight": [2, D]}
    norms = ["embeddings.LayerNorm"]
    for i in range(LAYERS):
        front = f"encoder.layer.{i}."
        norms += [front + "attention.output.LayerNorm", front + "output.LayerNorm"]
        for name, out, into in [("attention.self." + part, D, D) for part in ("query", "key", "value")] + [
                ("attention.output.dense", D, D), ("intermediate.dense", INNER, D), ("output.dense", D, INNER)]:
            shapes |= {front + name + ".weight": [out, into], front + name + ".bias": [out]}
    return shapes | {f"{norm}.{part}": [D] for norm in norms for part in ("weight", "bias")}


def rotary_shapes(kind, vocab, config):
    """Name: shape, of LLaMA and its kin."""
    shapes = {"model.embed_tokens.weight": [vocab, D], "model.norm.weight": [D]}
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = [vocab, D]
    head = config.get("head_dim", D // HEADS)
    wide, narrow = head * HEADS, head * KEYS
    for i in range(config["num_hidden_layers"]):
        front = f"model.layers.{i}."
        parts = [("self_attn.q_proj", wide, D), ("self_attn.k_proj", narrow, D), ("self_attn.v_proj", narrow, D),
                 ("mlp.gate_proj", INNER, D), ("mlp.up_proj", INNER, D)]
        if kind == "phi3":
            parts = [("self_attn.qkv_proj", wide + 2 * narrow, D), ("mlp.gate_up_proj", 2 * INNER, D)]
        for name, out, into in parts + [("self_attn.o_proj", D, wide), ("mlp.down_proj", D, INNER)]:
            shapes[front + name + ".weight"] = [out, into]
            if kind == "qwen2" and name[-6] in "qkv" or kind == "llama_biased":
                shapes[front + name + ".bias"] = [out]
        norms = ["input_layernorm", "post_attention_layernorm"]
        if kind in ("gemma2", "gemma3_text"):
            norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
        if kind == "olmo2":
            norms = ["post_attention_layernorm", "post_feedforward_layernorm"]
            shapes |= {front + "self_attn.q_norm.weight": [wide], front + "self_attn.k_norm.weight": [narrow]}
        if kind in ("qwen3", "gemma3_text"):
            shapes |= {front + f"self_attn.{part}_norm.weight": [head] for part in "qk"}
        shapes |= {front + name + ".weight": [D] for name in norms}
    return shapes


def write_weights(folder, shapes, center, spread):
    """Gains lie around `center`, embeddings around 0."""
    numbers = random.Random(len(shapes))
    header, data = {}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        wide = spread if any(part in name for part in ("embed_tokens", "word_embed", "wte", "shared")) else 0.25
        mean = center if len(shape) == 1 and name.endswith("weight") else 0
        content = struct.pack(f"<{count}f", *(numbers.gauss(mean, wide) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def write_json(folder, name, content):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(content, file)


def write_vectors(folder):
    """The files of sentence-transformers, and a tokenizer of words in pieces; its number of tokens."""
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "hen", "is", "on", "sea", "##s", "##en", "h", "e", "n"]
    added = [{"id": i, "content": vocab[i], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i in range(5)]
    single = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
              {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    special = {vocab[i]: {"id": vocab[i], "ids": [i], "tokens": [vocab[i]]} for i in (2, 3)}
    write_json(folder, "tokenizer.json", {
        "version": "1.0", "added_tokens": added, "pre_tokenizer": {"type": "BertPreTokenizer"},
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                       "lowercase": True},
        "post_processor": {"type": "TemplateProcessing", "single": single, "pair": [], "special_tokens": special},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": {word: i for i, word in enumerate(vocab)}}})
    write_json(folder, "modules.json", [
        {"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
        for i, (path, kind) in enumerate((("", "Transformer"), ("1_Pooling", "Pooling")))])
    os.makedirs(os.path.join(folder, "1_Pooling"))
    write_json(os.path.join(folder, "1_Pooling"), "config.json", {"pooling_mode_mean_tokens": True})
    return len(vocab)


kind, folder = sys.argv[1:]
os.makedirs(folder)
if kind == "gpt2":
    vocab = write_bytes(folder)
    shapes = gpt2_shapes(vocab)
    config = {"n_positions": CONTEXT, "n_embd": D, "n_layer": LAYERS, "n_head": HEADS, "activation_function": "gelu_new",
              "layer_norm_epsilon": 1e-5, "bos_token_id": vocab - 1, "eos_token_id": vocab - 1}
elif kind in ("t5", "flan", "mt5"):  # the latter have a head of their own
    vocab = write_pieces(folder, True)
    shapes = t5_shapes(vocab) | ({} if kind == "t5" else {"lm_head.weight": [vocab, D]})
    config = {"d_model": D, "d_kv": D // HEADS, "d_ff": INNER, "num_layers": LAYERS, "num_heads": HEADS,
              "feed_forward_proj": "gated-gelu", "eos_token_id": 2, "pad_token_id": 0, "tie_word_embeddings": kind == "t5"}
elif kind == "bert":
    vocab = write_vectors(folder)
    shapes = bert_shapes(vocab)
    config = {"hidden_size": D, "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
              "max_position_embeddings": CONTEXT, "hidden_act": "gelu", "pad_token_id": 0, "layer_norm_eps": 1e-12}
else:
    config = CONFIG | KINDS[kind]
    vocab = write_bytes(folder) if kind == "olmo2" else write_pieces(folder)
    vocab += 8 if kind == "padded" else 0
    if kind == "olmo2":
        config |= {"bos_token_id": None, "eos_token_id": vocab - 1}
    shapes = rotary_shapes(kind, vocab, config)
write_json(folder, "config.json", {"model_type": TYPES.get(kind, kind), "vocab_size": vocab} | config)
write_weights(folder, shapes, *((0, 0.05) if kind.startswith("gemma") else (1, 1)))
