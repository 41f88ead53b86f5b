# Answers lines of text, here words by their phonemes, with a model compiled by
#
#   tfc compile RUN -o libpronounce.so
#   python3 translate_text.py WORD …        (or lines on standard input)
import sys

import pronounce

with pronounce.Model() as model:
    try:
        if sys.argv[1:]:
            print("\n".join(model.translate_text(sys.argv[1:])))
        else:
            for line in sys.stdin:
                print(model.translate_text(line), end="", flush=True)
    except pronounce.Error as error:
        sys.exit(error.args[1])
