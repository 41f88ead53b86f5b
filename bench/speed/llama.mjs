// llama.cpp on a GGUF, by npm's node-llama-cpp: the speed of a prompt and of a text behind one token, and
// the text's ids, as JSON. FOLDER has node_modules.
//
//   node bench/speed/llama.mjs FOLDER MODEL.gguf THREADS PROMPT_TOKENS TOKENS
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [folder, modelPath, threads, promptTokens, tokens] = process.argv.slice(2);
const near = createRequire(path.resolve(folder, "package.json"));
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(near.resolve("node-llama-cpp")));

const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: Number(threads) });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: 1024, batchSize: 512, threads: Number(threads) });
const sequence = context.getSequence();
const prompt = Array.from({ length: Number(promptTokens) }, (_, i) => 4 + ((i * 7919) % 31000));

async function seconds(work) {
    await sequence.clearHistory();
    const begin = process.hrtime.bigint();
    await work();
    return Number(process.hrtime.bigint() - begin) / 1e9;
}

const prefill = async () => sequence.evaluateWithoutGeneratingNewTokens(prompt);
let ids = [];
async function generate() {
    ids = [];
    for await (const id of sequence.evaluate([1, 5], { temperature: 0, yieldEogToken: true })) {
        ids.push(id);
        if (ids.length === Number(tokens)) break;
    }
}

const first = await seconds(generate);
await seconds(prefill);
const result = {
    prefill: prompt.length / (await seconds(prefill)),
    generation: tokens / (await seconds(generate)),
    first: tokens / first,
    ids,
};
console.log(JSON.stringify(result));
await llama.dispose();
