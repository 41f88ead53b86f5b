"""The commands of tfc in faults_kills.py, a row for each, and one for each kind of file that compile, export and import
have. missing_rows() compares the table with what tfc says it has, so that no command and no format can be left out."""
import collections
import os
import re
import shutil
import subprocess

# A row: how a command is called, in a folder beside `in`.
#   words    of the command, with blanks between
#   writes   its files, with blanks between; NAME/ is a folder, and whole or absent unless it `grows`
#   resumes  how it goes on where the folder has a beginning; None: by the same words
#   grows    a command that failed may leave a beginning of its folder
#   needs    programs, or inputs in `in`, without which it cannot be called
#   short    is called in the push tier, too
#   tells    what its file, or where it writes none its output, says if a call failed and the command reports that there,
#            with status 0: tune measures again where the cache cannot be read
Row = collections.namedtuple("Row", "words writes resumes grows needs short tells", defaults=("", None, False, "", False, ""))

TEXTS = "--source ../in/t.src --target ../in/t.tgt"
WASM = "clang-19 wasm-ld-19"

ROWS = {
    "init": Row("init made --kind translator --data ../in/pairs.tsv", "made/", short=True),
    "train": Row(f"train ../in/m.tfg {TEXTS} --vocab words:auto --steps 4 --save-every 2 --out made", "made/",
                 resumes="train made --resume", grows=True, short=True),
    "data": Row(f"data {TEXTS}"),
    "prepare": Row(f"prepare {TEXTS} --vocab words:auto --rows-per-shard 10 -o made", "made/", grows=True, short=True),
    "prepare a table": Row("prepare ../in/classes.tfg --data ../in/table.tsv --vocab words:auto --rows-per-shard 4 -o made", "made/",
                           grows=True),
    "translate": Row("translate ../in/run --input ../in/t.src --output made.txt", "made.txt", short=True),
    "generate": Row("generate ../in/speak --prompt a --tokens 8 --temperature 0 --output made.txt", "made.txt"),
    "predict": Row("predict ../in/classes --input ../in/t.src --tsv made.tsv", "made.tsv", short=True),
    "score": Row(f"score ../in/run {TEXTS}"),
    "eval": Row("eval ../in/classes --data ../in/table.tsv --confusions made.tsv", "made.tsv"),
    "run": Row("run ../in/line.tfg --weights ../in/arrays.safetensors --in ../in/x.safetensors --out made.safetensors", "made.safetensors"),
    "compile so": Row("compile ../in/run -o libmade.so", "libmade.so backwards.h backwards.py", short=True),
    "compile obj": Row("compile ../in/run -o made.o", "made.o backwards.h"),
    "compile exe": Row("compile ../in/run -o made", "made"),
    "compile c": Row("compile ../in/run --emit c -o made.c", "made.c backwards.h", short=True),
    "compile llvm": Row("compile ../in/run -o made.ll", "made.ll"),
    "compile asm": Row("compile ../in/run -o made.s", "made.s"),
    "compile bc": Row("compile ../in/run -o made.bc", "made.bc"),
    "compile js": Row("compile ../in/run --emit js -o made", "made/", needs=WASM),
    "compile html": Row("compile ../in/run -o made.html", "made.html", needs=WASM),
    "dump": Row("dump ../in/m.tfg --format html -o made.html", "made.html"),
    "opt": Row("opt ../in/pass.tir --passes expand"),
    "check": Row("check ../in/classes.tfg"),
    "bench": Row("bench ../in/m.tfg --steps 1 --warm-up 0 --batch 2 --source-length 4 --target-length 4 --trace made.json", "made.json"),
    "tune": Row("tune --json", tells='"kept": false'),
    "info": Row("info ../in/run"),
    "align": Row(f"align ../in/run {TEXTS} --output made.txt --shortlist made.lex", "made.txt made.lex"),
    "attend": Row(f"attend ../in/run {TEXTS} --lines 2 -o made.html --json made.json --npy made.npz", "made.html made.json made.npz"),
    "report": Row("report ../in/run -o made.html", "made.html", short=True),
    "draw": Row("draw ../in/m.tfg --what graph -o made.svg", "made.svg"),
    "quantize": Row("quantize ../in/run --dtype int8 -o made", "made/", short=True),
    "export safetensors": Row("export ../in/run -o made.safetensors", "made.safetensors", short=True),
    "export hf": Row("export ../in/imported --format hf -o made", "made/", short=True),
    "export marian": Row("export ../in/imported --format marian -o made.npz", "made.npz"),
    "export onnx": Row("export ../in/line.tfg --weights ../in/arrays.safetensors -o made.onnx", "made.onnx"),
    "export gguf": Row("export ../in/llama -o made.gguf", "made.gguf"),
    "import a safetensors file": Row("import ../in/published -o made", "made/", short=True),
    "import a PyTorch archive": Row("import ../in/torch -o made", "made/"),
    "import a PyTorch archive of before PyTorch 1.6": Row("import ../in/torch_legacy -o made", "made/"),
    "import an archive of NumPy's arrays": Row("import ../in/weights.npz --config ../in/published -o made", "made/"),
    "import Marian's npz": Row("import ../in/marian -o made", "made/"),
    "import a GGUF, a model of llama.cpp": Row("import ../in/llama.gguf -o made", "made/"),
    "import a model of CTranslate2": Row("import ../in/ct2 -o made", "made/", needs="in/ct2"),
    "import an ONNX model": Row("import ../in/params.onnx --config ../in/published -o made", "made/"),
    "launch": Row("launch --retries 0 -- echo ran"),
    "bug-report": Row("bug-report ../in/m.tfg -o made.md", "made.md", tells="### What tfc says about the model"),
}

# What has no row, and why.
NO_ROW = {"import an array of NumPy": "one array is no model"}


def printed(tfc, *words):
    return subprocess.run([tfc, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout


def option_words(tfc, command, option):
    """The words that an option of a command takes."""
    return re.search(r"--%s (\S+\|\S+)" % option, printed(tfc, command, "--help"))[1].split("|")


def formats(root):
    """The files of weights that are read: rows of driver/formats/formats.c that have a parser."""
    folder = os.path.join(root, "driver", "formats")
    with open(os.path.join(folder, "formats.c")) as file:
        rows = re.findall(r'^    READ\(("[^"]*"|FORMAT_\w+),', file.read(), re.M)
    with open(os.path.join(folder, "formats.h")) as file:
        macros = dict(re.findall(r'^#define (FORMAT_\w+) ("[^"]*")', file.read(), re.M))
    return [macros.get(name, name).strip('"') for name in rows]


def all_commands(tfc):
    """Of each command of tfc --help its kinds; [""]: it has none that are told apart."""
    listed = printed(tfc, "--help").split("\nCommands:\n")[1].split("\n\n")[0]
    return {line.split()[0]: [""] for line in listed.splitlines() if re.match("  [^ ]", line)}


def missing_rows(tfc, root):
    """What is wrong with the table; an empty list: nothing."""
    kinds = all_commands(tfc)
    kinds["compile"] = option_words(tfc, "compile", "emit")
    kinds["export"] = option_words(tfc, "export", "format")
    kinds["import"] = formats(root)
    enough = len(kinds) > 20 and all(len(kinds[name]) > 3 for name in ("compile", "export", "import"))
    wrong = [] if enough else ["the commands or their kinds are not found: %r" % kinds]
    for command, names in kinds.items():
        for name in names:
            row = f"{command} {name}".strip()
            if row not in ROWS and row not in NO_ROW:
                wrong.append(f"'{row}' has no row in tests/cli/faults_commands.py")
    for row, (words, *_) in ROWS.items():
        if row.split()[0] not in kinds or words.split()[0] != row.split()[0]:
            wrong.append(f"the row '{row}' is of no command")
    return wrong


def can_be_called(row):
    return all(os.path.exists(name) if "/" in name else shutil.which(name) for name in ROWS[row].needs.split())
