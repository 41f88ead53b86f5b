// The data of the page, weights unpacked when they are first looked at.
const data = JSON.parse(document.getElementById("data").textContent);
const MEAN = -1;

const byId = id => document.getElementById(id);
const escapeText = text => text.replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);

// Labels of rows and columns: a row of cross attention is the step that predicts its token.
function labelsOf(sentence, layer) {
  const queries = {encoder: sentence.source, decoder: sentence.target, cross: sentence.next}[layer.kind];
  return {queries, keys: layer.kind === "decoder" ? sentence.target : sentence.source};
}

function unpack(sentence, layer) {
  if (layer.heads_of)
    return layer;
  const {queries, keys} = labelsOf(sentence, layer);
  const bytes = atob(layer.weights), area = queries.length * keys.length;
  layer.heads_of = [...Array(layer.heads)].map((_, h) =>
    Float32Array.from({length: area}, (_, i) => {
      const at = 2 * (h * area + i);
      return (bytes.charCodeAt(at) + 256 * bytes.charCodeAt(at + 1)) / 65535;
    }));
  layer.mean = Float32Array.from({length: area}, (_, i) =>
    layer.heads_of.reduce((sum, head) => sum + head[i], 0) / layer.heads);
  return layer;
}

// The weights of a head, rows of keys; a place that no head looks at is masked: weight 0 in the mean.
function weightsOf(sentence, layer, head) {
  unpack(sentence, layer);
  return head === MEAN ? layer.mean : layer.heads_of[head];
}
const headName = (layer, head) => head === MEAN ? "mean of heads" : "head " + (layer.head + head);
