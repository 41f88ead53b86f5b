// For cross.sh: runs a WASI program under Node with this folder as its own.
// node wasi.mjs PROGRAM.wasm [ARGUMENTS]
import { readFileSync } from 'node:fs'
import { WASI } from 'node:wasi'

const args = process.argv.slice(2)
const wasi = new WASI({ version: 'preview1', args, preopens: { '.': '.' } })
const { instance } = await WebAssembly.instantiate(readFileSync(args[0]),
  { wasi_snapshot_preview1: wasi.wasiImport })
process.exitCode = wasi.start(instance)
