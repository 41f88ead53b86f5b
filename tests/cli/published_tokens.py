"""Folders as they are published, but for their weights: tokenizer.json of words, config.json, generation_config.json.

    published_tokens.py bart|mbart|llama FOLDER ['{"key": value, ...}' of config.json ['{...}' of generation_config.json]]
"""
import json
import os
import sys

KIND, FOLDER = sys.argv[1:3]
MORE, GENERATION = (json.loads(word) for word in (sys.argv[3:5] + ["{}", "null"])[:2])
SPECIAL = {"bart": ["<unk>", "</s>", "<unused>", "<pad>"], "mbart": ["<s>", "<pad>", "</s>", "<unk>"]}
LANGUAGES = {"mbart": ["en_XX", "de_DE"]}
SIZES = {"bart": 20, "mbart": 40}
PAIR = {"d_model": 16, "max_position_embeddings": 20, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "activation_function": "gelu"}
CONFIG = {"bart": PAIR | {"vocab_size": 20, "scale_embedding": False, "bos_token_id": 1, "pad_token_id": 3, "eos_token_id": 1,
                          "decoder_start_token_id": 1, "forced_eos_token_id": 1},
          "mbart": PAIR | {"vocab_size": 40, "scale_embedding": True, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2,
                           "decoder_start_token_id": 2},
          "llama": {"vocab_size": 258, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 1,
                    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
                    "rope_theta": 10000.0, "bos_token_id": 256, "eos_token_id": 257, "tie_word_embeddings": True,
                    "hidden_act": "silu"}}


def added(tokens):
    return [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
             "special": True} for i, text in tokens]


def template(before, after, ids):
    place = lambda text: {"SpecialToken": {"id": text, "type_id": 0}}
    return {"type": "TemplateProcessing",
            "single": [place(t) for t in before] + [{"Sequence": {"id": "A", "type_id": 0}}] + [place(t) for t in after],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
            "special_tokens": {t: {"id": t, "ids": [ids[t]], "tokens": [t]} for t in before + after}}


def words():
    special, languages = SPECIAL[KIND], LANGUAGES.get(KIND, [])
    tokens = special + ["w%d" % i for i in range(4, SIZES[KIND] - len(languages))] + languages
    ids = {token: i for i, token in enumerate(tokens)}
    return {"added_tokens": added((i, t) for t, i in ids.items() if t in special + languages),
            "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": None,
            "post_processor": template(["en_XX"], ["</s>"], ids) if languages else None,
            "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": ids}}


def letters():
    shown = [b for b in range(256) if 33 <= b < 127 or 161 <= b < 173 or 174 <= b]
    hidden = [b for b in range(256) if b not in shown]
    chars = {b: chr(b) for b in shown} | {b: chr(256 + i) for i, b in enumerate(hidden)}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"added_tokens": added([(256, "<s>"), (257, "</s>")]), "pre_tokenizer": level, "decoder": level,
            "post_processor": template(["<s>"], [], {"<s>": 256}),
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "vocab": {chars[b]: b for b in range(256)}, "merges": []}}


def write(name, value):
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        json.dump(value, file)


os.makedirs(FOLDER, exist_ok=True)
write("tokenizer.json", {"version": "1.0", "truncation": None, "padding": None, "normalizer": None} |
      (letters() if KIND == "llama" else words()))
write("config.json", {"model_type": KIND} | CONFIG[KIND] | MORE)
if GENERATION is not None:
    write("generation_config.json", GENERATION)
