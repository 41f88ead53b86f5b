// Token ids and texts by npm's @huggingface/tokenizers (what @huggingface/transformers uses):
//   node reference.mjs FOLDER_OF_NODE_MODULES TOKENIZER.json LINES
// prints for each line its ids, and the text that these make, as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [modules, file, lines] = process.argv.slice(2);
const require = createRequire(resolve(modules, "reference.js"));
const { Tokenizer } = require("@huggingface/tokenizers");
const tokenizer = new Tokenizer(JSON.parse(readFileSync(file, "utf8")),
    { clean_up_tokenization_spaces: false });
const out = [];
for (const line of readFileSync(lines, "utf8").split("\n").slice(0, -1)) {
    const { ids } = tokenizer.encode(line, { add_special_tokens: false });
    const text = ids.length ? tokenizer.decode(ids, { skip_special_tokens: true }) : "";
    out.push(`${ids.join(" ")}\t${JSON.stringify(text)}`);
}
process.stdout.write(out.join("\n") + "\n");
