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

// What `one` gives of a text; of a list of texts, a list.
const ofEach = (texts, one) => Array.isArray(given("texts", texts, "text")) ? texts.map(one) : one(texts);
const lineOf = text => text.replace(/[\r\n]+/g, " ");

// The model, ready to answer. `module`: the bytes of model.wasm, where they do not lie beside this file.
export async function load(options = {}) {
  const {module} = given("options", options);
  const answer = await instantiate(module === undefined ? await readModule() : given("module", module));
  let counted = {tokens: 0, unknown: 0, note: null}, told = null;

  // The answers to a request; unknown tokens are counted, and told of where they are many.
  function ask(request, settings) {
    const {answers, tokens, unknown, note = null} = answer(request, settings);
    counted = {tokens, unknown, note};
    if (note && note !== told)
      console.warn(told = note);
    return answers;
  }

  const model = {
    unknown: () => ({...counted}),

@@methods
  };
  return model;
}
