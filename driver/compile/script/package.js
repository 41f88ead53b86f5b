@@core

async function readModule() {
  const place = new URL("model.wasm", import.meta.url);
  if (place.protocol === "file:" && typeof process !== "undefined")
    return (await import("node:fs/promises")).readFile(place);
  const response = await fetch(place);
  if (!response.ok)
    throw new Error(`${place}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

const lineOf = text => text.replace(/[\r\n]+/g, " ");

// The model, ready to answer. `module`: the bytes of model.wasm, where they do not lie beside this file.
export async function load(options = {}) {
  const {module} = given("options", options);
  const ask = await instantiate(module === undefined ? await readModule() : given("module", module));
  return {

@@methods
  };
}
