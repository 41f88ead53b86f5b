"""Which ops of ir/ops.def, functions of the frontend and blocks of models/lib random models reach, and why
others are not reached: a new op, function or block is either drawn by a row or has a reason here."""
import glob
import re
import subprocess

# Of ops, in the graph of a model's gradient.
OPS_WITHOUT = {
    "random": "numbers of tfc's own generator: tests/oracle",
    "dropout": "as random; outside of training it is its operand",
    "training": "resolved when a function is derived",
    "assign": "training steps: reference.steps",
    "keep": "decoding: model.equal", "append": "decoding: model.equal",
    "yield": "made by passes: graphs.random", "row": "made by passes: graphs.random",
    "column": "made by passes: graphs.random", "attention": "made by passes: graphs.random",
    "grouped_dot": "made by passes of products by matrices that are looked up: graphs.random",
    "grouped_outer": "as grouped_dot",
}
WITHOUT = {
    "random": "numbers of tfc's own generator", "masked": "as random",
    "next": "whole models: reference.gradients", "hidden": "columns: cli.hidden",
    "add_loss": "the loss of training: cli.experts", "one_of": "known while a model is built: cli.one_of",
    "require": "as one_of", "shape": "as one_of", "rank": "as one_of", "ragged": "as one_of", "is_float": "as one_of",
}


def names_of(path, pattern):
    found = set()
    for name in glob.glob(path):
        with open(name) as f:
            found |= set(re.findall(pattern, f.read(), re.M))
    return found


class Coverage:
    def __init__(self, tfc):
        self.tfc, self.ops, self.words, self.models = tfc, {}, {}, 0
        families = "LEAF|ELEMENTWISE|REDUCE|NORM|SHAPE|MATMUL|INDEX|LOSS|EFFECT|REGION"
        self.all_ops = names_of("ir/ops.def", r"^(?:%s)\((\w+)," % families)
        self.all_words = names_of("frontend/builtins*.c", r'\.name = "(\w+)"') | \
            names_of("models/lib/prelude.tfg", r"^block (\w+)\(") | names_of("models/lib/attention.tfg", r"^block (\w+)\(")

        self.bodies = {}                # the words of each block
        for library in ("prelude", "attention"):
            with open("models/lib/%s.tfg" % library) as f:
                for name, body in re.findall(r"^block (\w+)\((.*?)(?=^block |\Z)", f.read(), re.M | re.S):
                    self.bodies[name] = set(re.findall(r"\w+", body))

    def add(self, m, folder):
        self.models += 1
        text = m.text()
        words = set(re.findall(r"\b[a-z_]\w*(?= as \w+\(|\()", text))
        seldom = any(self.words.get(w, 0) < 3 for w in words & self.all_words)
        for word in words:
            self.words[word] = self.words.get(word, 0) + 1
        if m.terms and (seldom or self.models % 10 == 0):
            done = subprocess.run([self.tfc, "dump", folder + "/model.tfg", "--stage", "grad"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
            graph = done.stdout.decode()
            for op in set(re.findall(r"= (\w+)", graph)) & self.all_ops:
                self.ops[op] = self.ops.get(op, 0) + 1
            if re.search(r"^  output ", graph, re.M):
                self.ops["output"] = self.ops.get("output", 0) + 1

    def missing(self):
        called, grown = set(self.words), True
        while grown:
            inner = {w for c in called for w in self.bodies.get(c, ())}
            grown, called = not inner <= called, called | inner
        return sorted((self.all_ops - set(self.ops) - set(OPS_WITHOUT)) | (self.all_words - called - set(WITHOUT)))

    def show(self):
        def line(counts):
            return "  ".join("%s %d" % (k, n) for k, n in sorted(counts.items(), key=lambda e: -e[1]))
        print("ops of gradients: %s" % line(self.ops))
        print("functions and blocks: %s" % line({w: n for w, n in self.words.items() if w in self.all_words}))
        if self.missing():
            print("neither reached nor with a reason: %s" % " ".join(self.missing()))
