// A compiled model in WebAssembly: one function, which takes a request as JSON and gives the answer as
// JSON (runtime/model/script.c), and the few functions of WASI that it calls.
async function instantiate(bytes) {
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  let memory;
  const view = () => new DataView(memory.buffer);
  const NO_FILE = 8, NOT_THERE = 52; // EBADF, ENOSYS
  const wasi = {
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    clock_time_get(id, precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    fd_write(file, vectors, count, written) {
      let size = 0, said = "";
      for (let i = 0; i < count; i++) {
        const at = view().getUint32(vectors + 8 * i, true), length = view().getUint32(vectors + 8 * i + 4, true);
        said += decoder.decode(new Uint8Array(memory.buffer, at, length).slice());
        size += length;
      }
      console.error(said);
      view().setUint32(written, size, true);
      return 0;
    },
    fd_prestat_get: () => NO_FILE,
    proc_exit(status) { throw new Error("the model ended with status " + status); },
  };
  const module = await WebAssembly.compile(bytes);
  const needed = WebAssembly.Module.imports(module).filter(({kind}) => kind === "function");
  const imports = Object.fromEntries(needed.map(({name}) => [name, wasi[name] ?? (() => NOT_THERE)]));
  const {exports} = await WebAssembly.instantiate(module, {wasi_snapshot_preview1: imports});
  memory = exports.memory;
  exports._initialize();

  // Typed arrays, such as pixels, are lists of numbers.
  const plain = (key, value) => ArrayBuffer.isView(value) ? Array.from(value) : value;

  // request: {text, …settings}, or {records, …settings}; the list of answers.
  return request => {
    const bytes = encoder.encode(JSON.stringify(request, plain));
    const at = exports.malloc(bytes.length + 1);
    if (!at)
      throw new Error("out of memory");
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const answer = exports.answer(at, bytes.length);
    exports.free(at);
    const all = new Uint8Array(memory.buffer, answer);
    const {answers, error} = JSON.parse(decoder.decode(all.subarray(0, all.indexOf(0)).slice()));
    if (error)
      throw new Error(error);
    return answers;
  };
}