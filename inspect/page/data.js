// What the program wrote (inspect/page.c, inspect/snapshot.c), as objects.

const DATA = JSON.parse(byId("data").textContent);

// [first, count, first, count …] as the numbers.
function expandRuns(runs) {
  const numbers = [];
  for (let i = 0; i < runs.length; i += 2)
    for (let k = 0; k < runs[i + 1]; k++)
      numbers.push(runs[i] + k);
  return numbers;
}

// [value, times, value, times …] as the values.
function expandTimes(runs) {
  const values = [];
  for (let i = 0; i < runs.length; i += 2)
    for (let k = 0; k < runs[i + 1]; k++)
      values.push(runs[i]);
  return values;
}

// A record is one op as it is at some stage: another record, another look of the op `id`.
const records = DATA.records.map((r, index) => ({
  record: index,
  id: r[0],
  kind: DATA.words[r[1]],
  type: DATA.words[r[2]],
  attrs: DATA.words[r[3]],
  place: r[4],
  scope: DATA.words[r[5]],
  args: r[6],
  results: r[7],
  body: r[8] ? expandRuns(r[8]) : [],
}));

// A line is "file:line", a place the lines it came by: itself first, then the calls around.
const places = DATA.places.map(pairs => {
  const lines = [];
  for (let i = 0; i < pairs.length; i += 2)
    lines.push(pairs[i] + ":" + pairs[i + 1]);
  return lines;
});

const stages = DATA.stages.map(stage => {
  const ops = expandRuns(stage.ops).map(i => records[i]);
  const regionOf = new Map();
  for (const op of ops)
    for (const inner of op.body)
      regionOf.set(records[inner].id, op);
  return {name: stage.name, help: stage.help, ops, byId: new Map(ops.map(o => [o.id, o])), regionOf};
});
const LAST = stages.length - 1;
// What is compiled: the ops of the last stage by their ids, those of regions included.
const compiled = new Map(stages[LAST].ops.flatMap(op => [op, ...op.body.map(i => records[i])]).map(op => [op.id, op]));

const steps = DATA.steps.map((s, index) => ({
  index, kind: s[0], name: s[1], op: s[2], kernel: s[3], flops: s[4],
  bytes: s[5], shape: s[6],
}));
// `origins`: of each line of the loop IR; `ops`: by origin what it stands for, an op for each step.
const kernels = DATA.kernels.map(k => ({
  name: k[0], loops: k[1], origins: expandTimes(k[2]), ops: k[3].map(ids => ids.map(id => compiled.get(id))),
  llvm: k[4], assembly: k[5],
}));
const buffers = DATA.slab.buffers.map((b, index) => ({
  index, name: b[0], first: b[1], last: b[2], writer: b[3], offset: b[4], bytes: b[5], number: b[6],
}));
const told = DATA.report.map((r, index) => ({
  index, text: r[0], lines: places[r[1]], scope: r[2], miss: r[0].startsWith("not fused"),
}));
// Files that ops come from have numbers; the others get theirs here.
for (const source of DATA.sources)
  if (!DATA.files.includes(source.path))
    DATA.files.push(source.path);
const fileNumber = new Map(DATA.files.map((path, i) => [path, i]));

// The lines that an op belongs to, those of a region's ops included.
function linesOf(op) {
  if (!op.lines) {
    op.lines = new Set(places[op.place]);
    for (const inner of op.body)
      for (const line of linesOf(records[inner]))
        op.lines.add(line);
  }
  return op.lines;
}

// Without the calls around: where the op, or what a region is made of, stands itself.
function ownLines(op) {
  return new Set([op, ...op.body.map(inner => records[inner])]
    .map(one => places[one.place][0]).filter(Boolean));
}

function lineName(line) {
  const [file, number] = line.split(":");
  return baseName(DATA.files[file]) + ":" + number;
}
