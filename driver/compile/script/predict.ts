export interface Settings {
  /** the most probable classes that are given: a whole number of at least 1 (all) */
  top?: number;
}

/** Of classes their names and probabilities, the most probable first; numbers, or one. */
export type Entry = [name: string | number, probability: number][] | number[] | number;

export interface Model {
  /** What the model predicts of a text, by name: an entry, or one for each token; of CTC labels with blanks
   * between them and their log-probability. */
  predict(text: string, settings?: Settings): {[name: string]: Entry | Entry[]};
  /** The tokens of a text that entries are of; none where entries are of the text. */
  tokens(text: string): string[];
}

/** The model, ready to answer. `module`: the bytes of model.wasm, where they do not lie beside index.js. */
export function load(options?: {module?: BufferSource}): Promise<Model>;
