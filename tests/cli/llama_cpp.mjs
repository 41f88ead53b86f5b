// The ids that llama.cpp generates, greedily, behind a prompt: llama_cpp.mjs FOLDER MODEL.gguf PROMPT TOKENS. FOLDER has
// npm's node-llama-cpp with its prebuilt llama.cpp.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [folder, modelPath, prompt, tokens] = process.argv.slice(2);
const near = createRequire(path.resolve(folder, "package.json"));
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(near.resolve("node-llama-cpp")));
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: 1 });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: 128, threads: 1 });
const begin = model.tokens.shouldPrependBosToken ? [model.tokens.bos] : [];
const ids = [];
for await (const id of context.getSequence().evaluate([...begin, ...model.tokenize(prompt, true)], { temperature: 0, yieldEogToken: true })) {
    if (id === model.tokens.eos) break;
    ids.push(id);
    if (ids.length === Number(tokens)) break;
}
console.log(ids.join(", "));
await llama.dispose();
