"""The sides of a comparison, and their blocks in turn."""
import json
import statistics

from sides import WORK, Child, Failed, Tfc, progress
from tables import amount, memory, share

MODELS = {  # the model of tfc, and the sizes that pytorch.py makes it from
    "T": ("multi30k_tiny", dict(layers=4, d_model=128, d_ff=256, heads=4, vocab=10000,
                                norm_first=True, batch=256, source_length=16, target_length=16)),
    "S": ("multi30k_small", dict(layers=3, d_model=256, d_ff=1024, heads=8, vocab=8000,
                                 norm_first=False, batch=128, source_length=16, target_length=16)),
    "B": ("transformer_base", dict(layers=6, d_model=512, d_ff=2048, heads=8, vocab=37000,
                                   norm_first=False, batch=64, source_length=32,
                                   target_length=32)),
}


# ---- tfc ----

def tfc_side(o, name, size, dtype="f32", mode="train", lengths=None, **environment):
    batches = len(open(lengths).readlines()) if lengths else 1
    shape = ["--lengths", lengths] if lengths else [
        "--batch", size["batch"], "--source-length", size["source_length"],
        "--target-length", size["target_length"]]
    words = ["--mode", mode, "--dtype", dtype, "--threads", o.threads, *shape,
             "--set", f"vocab={size['vocab']}", "--set", "p_drop=0.1", *o.tfc_flags]
    return Tfc(f"{o.build}/tfc", f"models/{MODELS[name][0]}.tfg", map(str, words), environment,
               batches)


def flags_of(o):
    """What tfc is run with, for those who read the figures."""
    return " ".join(["tfc bench", f"--threads {o.threads}", *o.tfc_flags])


def tfc_has_bf16(o, name):
    try:
        tfc_side(o, name, dict(MODELS[name][1], batch=1), "bf16").run("--steps", "1")
    except Failed:
        return False
    return True


# ---- the others ----

class Variant:
    """A way to run PyTorch or ONNX Runtime, and how it did alone."""

    def __init__(self, words, dtype, command):
        self.label, self.dtype, self.command = ", ".join(filter(None, words)), dtype, command
        self.first_step = self.block = self.flags = None

    def heat(self, steps):
        try:
            child = Child(self.command)
            self.first_step, self.flags = (child.about[k] for k in ["first_step_seconds", "flags"])
            self.block = child.block(steps)
            child.close()
        except Failed as failure:
            progress(f"    {self.label}: {failure}")
            return
        progress(f"    {self.label}: {amount(self.block.tokens_per_second)} tokens/s, "
                 f"{memory(self.block.resident_peak_bytes)}, first step {self.first_step:.1f} s")


def torch_variants(o, size, mode="train", dtypes=("f32", "bf16"), ways=("eager", "torch.compile"),
                   lengths=None, cache=f"{WORK}/inductor"):
    words = ["bench/speed/pytorch.py", "--size", json.dumps(size), "--mode", mode, "--threads",
             str(o.threads)] + (["--lengths", lengths] if lengths else [])
    return [Variant([dtype, way, *chosen], dtype,
                    o.place.command([*words, "--dtype", dtype, *["--compile"] * (way != "eager")],
                                    TORCHINDUCTOR_CACHE_DIR=o.place.path(cache), **environment))
            for dtype in dtypes for way in ways if way == "eager" or o.has_compile
            for chosen, environment in o.place.settings(way)]


def onnx_variants(o, name, size):
    path = f"{WORK}/{name}.onnx"
    o.place.run(["bench/speed/pytorch.py", "--size", json.dumps(size), "--export", path])
    shape = [size[key] for key in ["vocab", "batch", "source_length", "target_length"]]
    words = ["bench/speed/onnx_runtime.py", path, *map(str, shape), str(o.threads)]
    return [Variant(["f32", "ONNX Runtime", *chosen], "f32", o.place.command(words, **environment))
            for chosen, environment in o.place.settings() if "MKL" not in chosen]


CLOSE = 0.85  # a variant this near the fastest alone may be the fastest in turn


def heat(variants, steps):
    """Runs each alone for a block; returns those that may be the fastest."""
    for variant in variants:
        variant.heat(steps)
    ran = [v for v in variants if v.block]
    if not ran:
        raise Failed("no variant runs: " + "; ".join(v.label for v in variants))
    return near(ran)


def near(variants):
    fastest = max((v.block.tokens_per_second for v in variants), default=0)
    return [v for v in variants if v.block.tokens_per_second >= CLOSE * fastest]


# ---- in turn ----

class Race:
    """Blocks of several sides by name, a round after another: tfc's, and the variants'."""

    def __init__(self, rounds, steps, sides, variants):
        sides = {**sides, **{v.label: Child(v.command) for v in variants}}
        self.blocks = {name: [] for name in sides}
        for i in range(rounds):
            for name, side in sides.items():
                self.blocks[name].append(side.block(steps))
            progress(f"    round {i + 1}: " + ", ".join(
                f"{name} {amount(blocks[-1].tokens_per_second)}"
                for name, blocks in self.blocks.items()))
        for side in sides.values():
            side.close()

    def speed(self, name):
        return statistics.median(b.tokens_per_second for b in self.blocks[name])

    def fastest(self, variants):
        """The label of the fastest of those that ran, or None."""
        return max((v.label for v in variants if v.label in self.blocks), key=self.speed,
                   default=None)

    def ratio(self, ours, theirs):
        return statistics.median(a.tokens_per_second / b.tokens_per_second
                                 for a, b in zip(self.blocks[ours], self.blocks[theirs]))

    def memory(self, name):
        return max(b.resident_peak_bytes for b in self.blocks[name])

    def disturbed(self):
        return max(b.disturbed for blocks in self.blocks.values() for b in blocks)


def disturbance(races):
    worst = max(race.disturbed() for race in races)
    return f"Other programs had {share(worst)} of the processors in the block most disturbed."
