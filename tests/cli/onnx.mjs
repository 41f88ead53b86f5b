// Exported models in ONNX Runtime (npm's onnxruntime-node), compared with what tfc run gives.
//   node onnx.mjs inputs FORWARD.onnx IN             writes ragged batches of ids, as tfc run takes them
//   node onnx.mjs forward FORWARD.onnx IN OUT        runs it: every output is that of OUT
//   node onnx.mjs steps ENCODE.onnx|- STEP.onnx IN OUT   token by token: the logits are those of OUT
// Prints the greatest difference; fails where it is above 1e-4.
import { basename } from 'node:path'
import { createRequire } from 'node:module'
import { readFileSync, writeFileSync } from 'node:fs'

const ort = createRequire(process.cwd() + '/build/npm/')('onnxruntime-node')
const LENGTHS = { source: [4, 7, 1, 6], target: [5, 2, 6, 1] }, IDS = 40, TOLERANCE = 1e-4
const ARRAYS = { F32: Float32Array, I32: Int32Array, I64: BigInt64Array }
const TYPES = { F32: 'float32', I32: 'int32', I64: 'int64' }

function readTensors(path) {
    const file = readFileSync(path), size = Number(file.readBigUInt64LE(0)), tensors = {}
    for (const [name, t] of Object.entries(JSON.parse(file.subarray(8, 8 + size).toString()))) {
        if (name === '__metadata__') continue
        const [from, to] = t.data_offsets.map((offset) => offset + 8 + size)
        const bytes = new Uint8Array(file.subarray(from, to))
        tensors[name] = { type: t.dtype, dims: t.shape, data: new ARRAYS[t.dtype](bytes.buffer) }
    }
    return tensors
}

function writeTensors(path, tensors) {
    const header = {}, parts = []
    let at = 0
    for (const [name, t] of Object.entries(tensors)) {
        const bytes = Buffer.from(t.data.buffer)
        header[name] = { dtype: t.type, shape: t.dims, data_offsets: [at, at + bytes.length] }
        parts.push(bytes)
        at += bytes.length
    }
    const text = Buffer.from(JSON.stringify(header)), size = Buffer.alloc(8)
    size.writeBigUInt64LE(BigInt(text.length))
    writeFileSync(path, Buffer.concat([size, text, ...parts]))
}

const open = (path) => ort.InferenceSession.create(path, { logSeverityLevel: 3, intraOpNumThreads: 1 })
const tensor = (t) => new ort.Tensor(TYPES[t.type], t.data, t.dims)
const longs = (values) => ({ type: 'I64', dims: [values.length], data: BigInt64Array.from(values.map(BigInt)) })

async function makeInputs(model, path) {
    const tensors = {}
    let seed = 1
    for (const name of (await open(model)).inputNames.filter((n) => !n.endsWith('.lengths'))) {
        const lengths = name === 'src' ? LENGTHS.source : LENGTHS.target
        const width = Math.max(...lengths), data = new Int32Array(lengths.length * width)
        lengths.forEach((n, row) => {
            for (let i = 0; i < n; i++) {
                seed = (seed * 75 + 74) % 65537
                data[row * width + i] = seed % IDS
            }
        })
        tensors[name] = { type: 'I32', dims: [lengths.length, width], data }
        tensors[name + '.lengths'] = longs(lengths)
    }
    writeTensors(path, tensors)
}

// Ids past the lengths are none: whatever they are, they do not matter.
function spoilPadding(tensors) {
    for (const [name, t] of Object.entries(tensors))
        for (let i = 0; tensors[name + '.lengths'] && i < t.data.length; i++) {
            const width = t.dims[1], row = Math.floor(i / width)
            if (i % width >= Number(tensors[name + '.lengths'].data[row])) t.data[i] = 12345
        }
    return tensors
}

let greatest = 0
function compare(what, a, b) {
    const difference = Math.abs(a - b)
    if (!(difference <= TOLERANCE)) throw new Error(`${what}: ${a} in ONNX Runtime, ${b} by tfc`)
    greatest = Math.max(greatest, difference)
}

function pick(session, tensors) {
    const feeds = {}
    for (const name of session.inputNames) feeds[name] = tensor(tensors[name])
    return feeds
}

async function forward(model, input, output) {
    const session = await open(model), expected = readTensors(output)
    const results = await session.run(pick(session, spoilPadding(readTensors(input))))
    for (const [name, result] of Object.entries(results)) {
        const ours = expected[name]
        if (`${ours.dims}` !== `${result.dims}`) throw new Error(`${name}: [${result.dims}], not [${ours.dims}]`)
        result.data.forEach((x, i) => compare(`${name}[${i}]`, x, ours.data[i]))
    }
}

async function steps(encode, step, input, output) {
    const tensors = spoilPadding(readTensors(input)), decoder = await open(step)
    const encoder = encode === '-' ? null : await open(encode)
    const feeds = encoder ? await encoder.run(pick(encoder, tensors)) : {}
    for (const name of decoder.inputNames)
        if (name.startsWith('memory.') && name.endsWith('.lengths')) feeds[name] = tensor(tensors['src.lengths'])
    const caches = decoder.inputNames.filter((n) => n.startsWith('cache.') && !n.endsWith('.lengths'))
    const target = decoder.inputNames.find((n) => tensors[n] && !n.endsWith('.lengths'))
    const logits = decoder.outputNames.find((n) => !n.endsWith('.new')), expected = readTensors(output)[logits]
    const [rows, width] = tensors[target].dims, vocab = expected.dims[2]
    caches.forEach((name) => {
        const rest = decoder.inputMetadata.find((m) => m.name === name).shape.slice(2)
        const count = rest.reduce((a, b) => a * b, rows * width)
        feeds[name] = new ort.Tensor('float32', new Float32Array(count).fill(NaN), [rows, width, ...rest])
    })
    for (let t = 0; t < width; t++) {
        const ids = Int32Array.from({ length: rows }, (_, row) => tensors[target].data[row * width + t])
        feeds[target] = tensor({ type: 'I32', dims: [rows, 1], data: ids })
        feeds[target + '.lengths'] = tensor(longs(Array(rows).fill(1)))
        for (const name of decoder.inputNames)
            if (name.startsWith('cache.') && name.endsWith('.lengths'))
                feeds[name] = tensor(longs(Array(rows).fill(t + 1)))
        const results = await decoder.run(feeds)
        for (const name of caches) feeds[name] = results[name + '.new']
        for (let row = 0; row < rows; row++)
            for (let v = 0; t < Number(tensors[target + '.lengths'].data[row]) && v < vocab; v++)
                compare(`${logits}[${row}, ${t}, ${v}]`, results[logits].data[row * vocab + v],
                    expected.data[(row * width + t) * vocab + v])
    }
}

const commands = { inputs: makeInputs, forward, steps }
const [command, ...words] = process.argv.slice(2)
await commands[command](...words)
if (command !== 'inputs') console.log(`${basename(words.at(-1), '.out')}, ${command}: greatest difference ${greatest.toExponential(1)}`)
