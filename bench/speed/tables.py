"""How bench/compare prints: Markdown tables, and the page bench/README.md."""
import datetime
import os
import platform

INTRO = """# Speed

`bench/compare` runs tfc and what one would use instead in turn, A B A B …, on one machine: a
block of steps of each a round, one step before each block that does not count. A round's ratio
is of the medians of its two blocks; figures and ratios here are medians over the rounds. Both
sides compute the same: sizes, batches, dropout 0.1, label smoothing 0.1, Adam. tfc starts anew
for each block; the others, which take long to be ready, sleep meanwhile. Memory is the highest
resident memory: of tfc's process as a whole, of the others after their first steps, what
compilation took left out.

T, S, B are multi30k_tiny (4+4 layers, d 128, vocabulary 10,000; 256 sentences of 16 tokens),
multi30k_small (3+3, d 256, 8,000; 128 of 16) and transformer_base (6+6, d 512, 37,000; 64 of
32); tokens are those of the target.

```
bench/torch-debian FOLDER                                  # Debian 13, for PyTorch 2.6 and ONNX Runtime
bench/compare --debian FOLDER                              # training and forward
bench/compare --debian FOLDER --real DATA                  # batches of train.en and train.de, pieces apart by spaces
bench/compare --debian FOLDER --first-step
bench/compare --gemm-only
bench/compare --debian FOLDER --train --forward --real DATA --first-step --gemm-only --markdown >bench/README.md
```

The other programs here: [bench/lengths](lengths) measures how a step grows with the length of
sentences, [bench/attention_products](attention_products) counts what attention multiplies,
[bench/first_sentence](first_sentence) a translation from a process's start; [bench/multi30k](multi30k) and [bench/shakespeare](shakespeare) train models,
[bench/adapt](adapt) adapts one to other texts, [bench/backtranslate](backtranslate) trains with sentences
of one language, [bench/pronounce-languages](pronounce-languages) trains ten pronouncing libraries,
[bench/prepared](prepared) trains from data larger than memory, [bench/ranks](ranks) by several processes,
[bench/scaling](scaling) predicts training by many.
"""


def table(header, rows):
    """The first column is text, the others are figures."""
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def amount(value):
    return f"{value:,.0f}"


def ratio(value):
    return f"{value:.2f}"


def share(value):
    return f"{100 * value:.0f} %"


def memory(size):
    return f"{size / 1e9:.2f} GB"


def cpu():
    """The model, the number of processors, and the extensions that matter to products."""
    with open("/proc/cpuinfo") as f:
        lines = dict(line.split(":", 1) for line in f if ":" in line)
    lines = {key.strip(): value.strip() for key, value in lines.items()}
    flags = set(lines.get("flags", lines.get("Features", "")).split())
    known = [name for name in ["avx2", "avx512f", "avx512_bf16", "amx_bf16"] if name in flags]
    return f"{lines.get('model name', platform.machine())}, {os.cpu_count()} processors, " + \
        " ".join(known)


def system():
    names = platform.freedesktop_os_release()
    return names.get("PRETTY_NAME", "Linux")


def page(parts, versions):
    here = f"{datetime.date.today()}; {cpu()}; {system()}; {versions}"
    return "\n".join([INTRO, f"Measured {here}.", "", "\n\n".join(parts)])
