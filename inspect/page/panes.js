// The panes. A row tells where the pane stands (`column`, see layout.js), its key, what it
// is for, and how it is drawn, marked and searched; another view of the program is another row.
//
//   draw()       writes the pane's contents; once, and again after redraw(id)
//   mark(mine)   marks what is selected; `mine`: the selected steps
//   hits()       how many rows the search finds; none: the search does not look here
//   rows         selector of what the keys move over; without: text that scrolls
//   move, visit, keys, sideways    where its keys differ from those of a list (lists.js)
//   toolbar()    its controls, beside the tabs;  wraps: whether long lines wrap, if they can

function codePane(id, title, key, help, textOf, parts) {
  return {
    id, title, key, help, column: "right", wraps: false,
    toolbar: () => '<select class="kernel" aria-label="kernel"></select>',
    draw: () => {},
    mark: mine => markCode(id, mine, parts),
    hits: () => countFound(kernels, textOf),
  };
}

const PANES = [
  {
    id: "source", title: "Source", column: "left", key: "e", rows: ".line", wraps: true,
    help: "the model's own file, then those it uses; blue line numbers have ops",
    toolbar: fileButtons, draw: drawSource, mark: markSource,
    hits: () => countFound(sourceLines, line => line.text),
  },
  {
    id: "graph", title: "Graph", column: "middle", key: "g", rows: ".node",
    help: "the ops of a scope after the chosen pass, and what flows between them; boxes are scopes to open",
    toolbar: graphTools, draw: () => {}, mark: drawGraph, sideways: true,
    move: nodeBeside, keys: {"+": openNode, "-": closeScope, Backspace: closeScope},
  },
  {
    id: "ops", title: "Operations", column: "middle", key: "o", rows: ".op", wraps: false,
    help: "every op after the chosen pass; green: new in this pass, orange: changed by it",
    toolbar: opsTools, draw: drawOps, mark: markOps, hits: () => stageHits[state.stage],
  },
  {
    id: "report", title: "Fusion report", column: "middle", key: "r", rows: ".told",
    help: "what became one kernel, and what nearly did and why not",
    draw: drawReport, mark: markReport, hits: () => countFound(told, line => line.text + " " + line.scope),
  },
  {
    id: "steps", title: "Steps", column: "right", key: "s", rows: "[data-step]",
    help: "the program: kernels and products in the order they run, with their work",
    draw: drawSteps, mark: markSteps, hits: () => countFound(steps, stepText),
  },
  {
    ...codePane("loops", "Loop IR", "i", "the loops of a kernel, in vectors; each line knows its ops", kernel => kernel.loops),
    rows: ".loop", mark: markLoops,
  },
  codePane("llvm", "LLVM IR", "l", "the LLVM IR of a kernel", kernel => kernel.llvm, llvmParts),
  codePane("asm", "Assembly", "a", "the machine code of a kernel", kernel => kernel.assembly, assemblyParts),
  {
    id: "slab", title: "Memory", column: "bottom", key: "m", rows: ".b", sideways: true,
    help: "the slab: each bar is a buffer, as long as it is needed and as high as it is large",
    toolbar: slabTools, draw: drawSlab, mark: markSlab, hits: () => countFound(buffers, b => b.name),
    visit: bar => tellBuffer(buffers[bar.dataset.buffer]),
  },
];
