// What llama.cpp makes of a GGUF: llama_cpp.mjs FOLDER text MODEL.gguf PROMPT TOKENS, the ids that it generates greedily behind
// a prompt; FOLDER vector MODEL.gguf TEXT, a text's vector; FOLDER open MODEL.gguf, 1. FOLDER has npm's node-llama-cpp with its
// prebuilt llama.cpp.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [folder, what, modelPath, text, tokens] = process.argv.slice(2);
const near = createRequire(path.resolve(folder, "package.json"));
const { getLlama, LlamaLogLevel } = await import(pathToFileURL(near.resolve("node-llama-cpp")));
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: 1 });
const model = await llama.loadModel({ modelPath });

async function generated() {
    const context = await model.createContext({ contextSize: 128, threads: 1 });
    const begin = model.tokens.shouldPrependBosToken ? [model.tokens.bos] : [];
    const prompt = [...begin, ...model.tokenize(text, true)];
    const ids = [];
    for await (const id of context.getSequence().evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
        if (id === model.tokens.eos) break;
        ids.push(id);
        if (ids.length === Number(tokens)) break;
    }
    return ids.join(", ");
}

async function vector() {
    const context = await model.createEmbeddingContext({ contextSize: 128, threads: 1 });
    return (await context.getEmbeddingFor(text)).vector.join(", ");
}

console.log(what === "text" ? await generated() : what === "vector" ? await vector() : 1);
await llama.dispose();
