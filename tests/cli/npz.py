"""Marian's model.npz for npz.sh, without tfc's code: python3 npz.py COMMAND …

    make FOLDER TO         a published folder (config.json, vocab.json, safetensors) as Marian's; the
                           row and the bias of <pad> become zeros in the folder's safetensors
    same SAFETENSORS NPZ   published weights and the arrays of an .npz are the same, bit by bit
    arrays NPZ NPZ         both have the same arrays
    pieces YML TO          a SentencePiece model of the tokens, in their order
    break NPZ TO HOW       a file that cannot be read
"""
import json
import os
import re
import struct
import sys
import warnings
import zipfile

try:
    import numpy
except ImportError:
    numpy = None

ATTENTION = [("Wq", "q_proj.weight"), ("bq", "q_proj.bias"), ("Wk", "k_proj.weight"), ("bk", "k_proj.bias"),
             ("Wv", "v_proj.weight"), ("bv", "v_proj.bias"), ("Wo", "out_proj.weight"), ("bo", "out_proj.bias")]
SETTINGS = """dec-depth: %(decoder_layers)d
dim-emb: %(d_model)d
dim-vocabs:
  - %(tokens)d
  - %(tokens)d
enc-depth: %(encoder_layers)d
max-length: 100
right-left: false
tied-embeddings-all: true
transformer-decoder-autoreg: self-attention
transformer-dim-ffn: %(encoder_ffn_dim)d
transformer-dropout: %(dropout)g
transformer-ffn-activation: %(activation_function)s
transformer-ffn-depth: 2
transformer-heads: %(encoder_attention_heads)d
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-preprocess: ""
transformer-tied-layers:
  []
type: transformer
version: v1.7.6
"""


def names(encoder, decoder):
    """(Marian's, published) of all arrays."""
    pairs = [("Wemb", "model.shared.weight"), ("decoder_ff_logit_out_b", "final_logits_bias")]
    for side, layers in ("encoder", encoder), ("decoder", decoder):
        for i in range(layers):
            theirs, ours = "%s_l%d_" % (side, i + 1), "model.%s.layers.%d." % (side, i)
            parts = [("self", "self_attn")] + [("context", "encoder_attn")] * (side == "decoder")
            for m, p in parts:
                pairs += [(theirs + m + "_" + a, ours + p + "." + b) for a, b in ATTENTION]
                pairs += [(theirs + m + "_Wo_ln_" + a, ours + p + "_layer_norm." + b)
                          for a, b in (("scale", "weight"), ("bias", "bias"))]
            pairs += [(theirs + "ffn_" + a, ours + b) for a, b in
                      (("W1", "fc1.weight"), ("b1", "fc1.bias"), ("W2", "fc2.weight"), ("b2", "fc2.bias"),
                       ("ffn_ln_scale", "final_layer_norm.weight"), ("ffn_ln_bias", "final_layer_norm.bias"))]
    return pairs


def read_safetensors(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, of in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = of["data_offsets"]
            bytes_ = data[8 + size + begin:8 + size + end]
            tensors[name] = (of["shape"], list(struct.unpack("<%df" % (len(bytes_) // 4), bytes_)))
    return tensors


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        bytes_ = struct.pack("<%df" % len(values), *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def npy(shape, bytes_, descr="<f4", order="False", version=1):
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
        descr, order, ", ".join(map(str, shape)) + ("," if len(shape) == 1 else ""))
    text = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + bytes_


def read_npz(path):
    """name → (shape, type, bytes); numpy's own reader where it is there."""
    if numpy:
        with numpy.load(path) as file:
            return {n: (list(file[n].shape), file[n].dtype.str, file[n].tobytes()) for n in file.files}
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            size = struct.unpack("<H", data[8:10])[0]
            head = data[10:10 + size].decode()
            shape = [int(x) for x in re.search(r"\(([^)]*)\)", head)[1].replace(",", " ").split()]
            arrays[name[:-4]] = (shape, re.search(r"'descr': '([^']*)'", head)[1], data[10 + size:])
    return arrays


def write_npz(path, arrays, packed=False):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as file:
        for name, data in arrays:
            file.writestr(name + ".npy", data)


def marians(shape, values, tokens, name):
    """As Marian lays it out: [in, out], no row of <pad>, vectors as a row."""
    if name in ("Wemb", "decoder_ff_logit_out_b"):
        width = shape[1] if name == "Wemb" else 1
        return ([tokens, width] if name == "Wemb" else [1, tokens]), values[:tokens * width]
    if len(shape) == 1:
        return [1] + shape, values
    rows, columns = shape
    return [columns, rows], [values[r * columns + c] for c in range(columns) for r in range(rows)]


def make(folder, to):
    os.mkdir(to)
    config = json.load(open(folder + "/config.json"))
    vocab = json.load(open(folder + "/vocab.json"))
    tokens = vocab.pop("<pad>")
    assert tokens == len(vocab)
    weights = read_safetensors(folder + "/model.safetensors")
    shape, values = weights["model.shared.weight"]
    for name in weights:
        if weights[name][0] == shape and weights[name][1] == values:  # tied
            weights[name] = (shape, values[:tokens * shape[1]] + [0.0] * shape[1])
    bias = weights["final_logits_bias"]
    weights["final_logits_bias"] = (bias[0], bias[1][:tokens] + [0.0])
    write_safetensors(folder + "/model.safetensors", weights)
    arrays = []
    for theirs, ours in names(config["encoder_layers"], config["decoder_layers"]):
        shape, values = marians(*weights[ours], tokens, theirs)
        arrays.append((theirs, npy(shape, struct.pack("<%df" % len(values), *values), version=1 + len(arrays) % 2)))
    settings = (SETTINGS % dict(config, tokens=tokens)).encode() + b"\0"
    arrays.append(("special:model.yml", npy([len(settings)], settings, "|i1")))
    write_npz(to + "/opus.npz", arrays, packed=True)
    with open(to + "/opus.vocab.yml", "w") as file:
        for token, number in vocab.items():
            file.write("%s: %d\n" % (json.dumps(token), number))
    for side in "source.spm", "target.spm":
        open(to + "/" + side, "wb").write(open(folder + "/" + side, "rb").read())


def shift(folder, by):
    """Adds a number to the logits of all tokens that Marian has."""
    weights = read_safetensors(folder + "/model.safetensors")
    shape, values = weights["final_logits_bias"]
    weights["final_logits_bias"] = (shape, [value + float(by) for value in values[:-1]] + [0.0])
    write_safetensors(folder + "/model.safetensors", weights)


def fixed(safetensors, before):
    now, was = read_safetensors(safetensors), read_safetensors(before)
    assert now["final_logits_bias"] == was["final_logits_bias"]
    assert now["model.encoder.layers.0.fc1.bias"] != was["model.encoder.layers.0.fc1.bias"]


def same(safetensors, npz):
    weights, arrays = read_safetensors(safetensors), read_npz(npz)
    tokens = arrays["Wemb"][0][0]
    layers = [1 + max(int(m[1]) for m in re.finditer(r"model\.%s\.layers\.(\d+)" % side, " ".join(weights)))
              for side in ("encoder", "decoder")]
    pairs = names(*layers)
    assert set(arrays) == {theirs for theirs, _ in pairs} | {"special:model.yml"}, sorted(arrays)
    for theirs, ours in pairs:
        shape, values = marians(*weights[ours], tokens, theirs)
        assert arrays[theirs] == (shape, "<f4", struct.pack("<%df" % len(values), *values)), theirs


def pieces(yml, to):
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data
    model = b""
    for number, line in enumerate(open(yml)):
        piece = json.loads(line.rsplit(": ", 1)[0]).encode()
        kind = {b"</s>": 3, b"<unk>": 2}.get(piece, 1)
        model += field(1, field(1, piece) + b"\x15" + struct.pack("<f", -number) + bytes([0x18, kind]))
    open(to, "wb").write(model + field(2, b"\x18\x01") + field(3, field(1, b"identity")))


def break_it(npz, to, how):
    with zipfile.ZipFile(npz) as file:
        arrays = [(n[:-4], file.read(n)) for n in file.namelist()]
    table = dict(arrays)
    key = "encoder_l1_self_Wq"
    n = len(table[key]) - 4 * 16 * 16

    def put(value, name=key):
        return [(k, value if k == name else v) for k, v in arrays]
    if how == "cut":
        arrays = put(table[key][:-1])
    elif how == "order":
        arrays = put(table[key].replace(b"False", b"True "))
    elif how == "type":
        arrays = put(table[key].replace(b"<f4", b"<c8"))
    elif how == "integers":
        arrays = put(table[key].replace(b"<f4", b"<i4"))
    elif how == "huge":
        arrays = put(npy([1 << 40, 1 << 40], b""))
    elif how == "header":
        arrays = put(b"\x93NUMPY\x01\x00\xff\xff{")
    elif how == "shape":
        arrays = put(npy([8, 32], table[key][n:]))
    elif how == "twice":
        arrays.append((key, table[key]))
    elif how == "missing":
        arrays = [(k, v) for k, v in arrays if k != key]
    elif how == "more":
        arrays.append(("Wpos", table[key]))
    elif how == "bomb":
        arrays.append(("zeros", npy([1 << 25], bytes(1 << 27))))
    elif how == "no NUL":
        text = table["special:model.yml"].split(b"\n", 1)[1]
        text = text[:text.index(b"tied-embeddings-all")]
        arrays = put(npy([len(text)], text, "|i1"), "special:model.yml")
    elif how == "settings":
        arrays = [(k, v) for k, v in arrays if k != "special:model.yml"]
    elif how != "archive":
        old, new = (x.encode() for x in how.split(" -> "))
        text = table["special:model.yml"].split(b"\n", 1)[1]
        assert old in text, how
        text = text.replace(old, new)
        arrays = put(npy([len(text)], text, "|i1"), "special:model.yml")
    warnings.simplefilter("ignore")
    write_npz(to, arrays, packed=True)
    if how == "archive":
        data = open(to, "rb").read()
        open(to, "wb").write(data[:len(data) // 2])


def main(command, *words):
    if command == "arrays":
        assert read_npz(words[0]) == read_npz(words[1])
    else:
        {"make": make, "shift": shift, "fixed": fixed, "same": same, "pieces": pieces, "break": break_it}[command](*words)


if __name__ == "__main__":
    main(*sys.argv[1:])
