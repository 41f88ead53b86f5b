// What a caller gives: each argument by its name, what it takes, and whether a value is that.
const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
const isText = value => typeof value === "string";
const isListOf = (value, fits) => Array.isArray(value) && [...value].every(fits); // a hole is no element
const ARGUMENTS = {
  text: ["a text", isText],
  texts: ["a text or a list of texts", value => isText(value) || isListOf(value, isText)],
  record: ["an object", isObject],
  records: ["a list of objects", value => isListOf(value, isObject)],
  count: ["a whole number of at least 1", value => Number.isInteger(value) && value >= 1],
  settings: ["an object", isObject],
  setting: ["a number, a text or a truth value", value => ["number", "string", "boolean", "undefined"].includes(typeof value)],
  options: ["an object", isObject],
  module: ["the bytes of model.wasm", value => value instanceof ArrayBuffer || ArrayBuffer.isView(value)],
};
const sayKind = value => value === undefined || value === null || Number.isNaN(value) ? String(value)
  : Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : typeof value === "number" ? `${value}` : `a ${typeof value}`;

// The value that an argument was given; a TypeError where it takes no such value.
function given(argument, value, name = argument) {
  const [expected, fits] = ARGUMENTS[argument];
  if (!fits(value))
    throw new TypeError(`${name}: expected ${expected}, not ${sayKind(value)}`);
  return value;
}

// As JSON, in which typed arrays, such as pixels, are lists of numbers. (Functions are left out, and so are missing.)
function toJson(value) {
  let name = "";
  return JSON.stringify(value, function (key, part) {
    name = Array.isArray(this) ? name : key;
    if (typeof part === "bigint" || part instanceof DataView)
      throw new TypeError(`${name}: expected numbers or a text, not ${sayKind(part)}`);
    return ArrayBuffer.isView(part) ? Array.from(part) : part;
  });
}

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

  // request: {text} or {records}, and settings, here or apart; {answers (a list), tokens, unknown, note (if they are many)}.
  // Records become lines of JSON, as a compiled program reads them.
  return (request, settings = {}) => {
    Object.entries(given("settings", settings)).forEach(([name, value]) => given("setting", value, name));
    const {records} = request, lines = records && {records: records.map(toJson).join("\n")};
    const bytes = encoder.encode(toJson({...settings, ...request, ...lines}));
    const at = exports.malloc(bytes.length + 1);
    if (!at)
      throw new Error("out of memory");
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const answer = exports.answer(at, bytes.length);
    exports.free(at);
    const all = new Uint8Array(memory.buffer, answer);
    const {error, ...found} = JSON.parse(decoder.decode(all.subarray(0, all.indexOf(0)).slice()));
    if (error)
      throw new Error(error);
    return found;
  };
}