// Exported models in ONNX Runtime (npm's onnxruntime-node), compared with what tfc run gives.
//   node onnx.mjs inputs FORWARD.onnx IN IDS         writes ragged batches of ids, as tfc run takes them
//   node onnx.mjs params OUT NAME=ROWS,COLUMNS …     writes params, of 0.3 to 1.3
//   node onnx.mjs forward FORWARD.onnx IN OUT        runs it: every output is that of OUT
//   node onnx.mjs steps ENCODE.onnx|- STEP.onnx IN OUT   token by token: the logits are those of OUT
// Prints the greatest difference; fails where it is above 1e-4.
import { basename } from 'node:path'
import { createRequire } from 'node:module'
import { readFileSync, writeFileSync } from 'node:fs'

const ort = createRequire(process.cwd() + '/build/npm/')('onnxruntime-node')
const LENGTHS = { source: [4, 7, 0, 6], target: [5, 2, 6, 0] }, TOLERANCE = 1e-4, NONE = 12345
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

async function makeInputs(model, path, ids) {
    const tensors = {}
    let seed = 1
    for (const name of (await open(model)).inputNames.filter((n) => !n.endsWith('.lengths'))) {
        const lengths = name === 'src' ? LENGTHS.source : LENGTHS.target
        const width = Math.max(...lengths), data = new Int32Array(lengths.length * width)
        lengths.forEach((n, row) => {
            for (let i = 0; i < n; i++) {
                seed = (seed * 75 + 74) % 65537
                data[row * width + i] = seed % ids
            }
        })
        tensors[name] = { type: 'I32', dims: [lengths.length, width], data }
        tensors[name + '.lengths'] = longs(lengths)
    }
    writeTensors(path, tensors)
}

function makeParams(path, ...params) {
    const tensors = {}
    let seed = 1
    for (const [name, sizes] of params.map((param) => param.split('='))) {
        const dims = sizes.split(',').map(Number)
        const data = new Float32Array(dims.reduce((a, b) => a * b))
        tensors[name] = { type: 'F32', dims, data: data.map(() => 0.3 + (seed = (seed * 75 + 74) % 65537) / 65537) }
    }
    writeTensors(path, tensors)
}

// What stands past the lengths does not matter: an id, or none.
function spoilPadding(tensors) {
    for (const [name, t] of Object.entries(tensors))
        for (let i = 0; tensors[name + '.lengths'] && i < t.data.length; i++) {
            const width = t.dims[1], row = Math.floor(i / width)
            if (i % width >= Number(tensors[name + '.lengths'].data[row])) t.data[i] = i % 2 ? 3 : NONE
        }
    return tensors
}

let greatest = 0, compared = 0
function compare(what, a, b) {
    const difference = Object.is(a, b) ? 0 : Math.abs(a - b)
    if (!(difference <= TOLERANCE)) throw new Error(`${what}: ${a} in ONNX Runtime, ${b} by tfc`)
    greatest = Math.max(greatest, difference)
    compared++
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
    const target = decoder.inputNames.find((n) => n !== 'src' && tensors[n] && !n.endsWith('.lengths'))
    const [rows, width] = tensors[target].dims
    tensors['B.size'] = longs([rows])
    const feeds = encoder ? await encoder.run(pick(encoder, tensors)) : {}
    for (const name of decoder.inputNames)
        if (name === 'S.lengths' || (name.startsWith('memory.') && name.endsWith('.lengths')))
            feeds[name] = tensor(tensors['src.lengths'])
    const caches = decoder.inputNames.filter((n) => n.startsWith('cache.') && !n.endsWith('.lengths'))
    const logits = decoder.outputNames.find((n) => !n.endsWith('.new')), expected = readTensors(output)[logits]
    const vocab = expected.dims[2]
    // A cache begins with what encode gives of it: the source, and what else stands before the text.
    let before = Array(rows).fill(0)
    caches.forEach((name) => {
        const [, last, ...rest] = decoder.inputMetadata.find((m) => m.name === name).shape
        const keeps = typeof last === 'number', start = feeds[name] // keeps: the last rows, zeros at first
        const each = rest.reduce((a, b) => a * b, 1), n = start ? start.dims[1] : 0, room = keeps ? last : n + width + 1
        const data = new Float32Array(rows * room * each).fill(keeps ? 0 : NaN)
        for (let row = 0; start && row < rows; row++)
            data.set(start.data.subarray(row * n * each, (row + 1) * n * each), row * room * each)
        feeds[name] = new ort.Tensor('float32', data, [rows, room, ...rest])
        if (start && !keeps) before = before.map((_, row) => n - (tensors.src ? tensors.src.dims[1] - Number(tensors['src.lengths'].data[row]) : 0))
    })
    const end = Array.from(tensors[target + '.lengths'].data, Number), done = Array(rows).fill(0)
    for (let t = 0; t < width; t++) {
        // First one token or two of a row, then one each; past a row's end come ids that are none.
        const newest = done.map((_, row) => t ? 1 : 1 + row % 2), q = Math.max(...newest)
        const data = Int32Array.from({ length: rows * q }, (_, i) => {
            const row = Math.floor(i / q), at = done[row] + i % q
            return i % q < newest[row] && at < width ? tensors[target].data[row * width + at] : NONE
        })
        const lengths = done.map((n, row) => before[row] + n + newest[row])
        feeds[target] = tensor({ type: 'I32', dims: [rows, q], data })
        feeds[target + '.lengths'] = tensor(longs(newest))
        for (const name of decoder.inputNames)
            if (name.startsWith('cache.') && name.endsWith('.lengths')) feeds[name] = tensor(longs(lengths))
        if (decoder.inputNames.includes('P.lengths')) feeds['P.lengths'] = tensor(longs(done.map((n, row) => n + newest[row])))
        const results = await decoder.run(feeds)
        for (const name of caches) feeds[name] = results[name + '.new']
        for (let i = 0; i < rows * q * vocab; i++) {
            const row = Math.floor(i / q / vocab), k = Math.floor(i / vocab) % q, at = done[row] + k
            if (k < newest[row] && at < end[row])
                compare(`${logits}[${row}, ${at}, ${i % vocab}]`, results[logits].data[i],
                    expected.data[(row * width + at) * vocab + i % vocab])
        }
        newest.forEach((n, row) => { done[row] += n })
    }
}

const commands = { inputs: makeInputs, params: makeParams, forward, steps }
const [command, ...words] = process.argv.slice(2)
await commands[command](...words)
if (command === 'forward' || command === 'steps') {
    if (!compared) throw new Error('nothing was compared')
    console.log(`${basename(words.at(-1), '.out')}, ${command}: ${compared} numbers, at most ${greatest.toExponential(1)} apart`)
}
