export interface Settings {
  /** the most probable classes that are given: a whole number of at least 1 (all) */
  top?: number;
  /** of labels of CTC: how many prefixes are kept, a whole number of at least 1 (1: the best path) */
  beam?: number;
  /** of labels of CTC: the words that results consist of, one a line, its labels with blanks between */
  lexicon?: string;
  /** with a lexicon: the label between words (none: a result is one word) */
  separator?: string;
}

/** Of classes their names and probabilities, the most probable first; numbers, or one. */
export type Entry = [name: string | number, probability: number][] | number[] | number;

/** Tokens of a text, and those among them that the vocabulary does not know: the model reads these as one and the same. */
export interface Unknown {
  tokens: number;
  unknown: number;
  /** a sentence that tells so where they are more than 0.5 %, which console.warn has had, too */
  note: string | null;
}

export interface Model {
  /** Of the last text that was answered. */
  unknown(): Unknown;
  /** What the model predicts of a text, by name: an entry, or one for each token; of CTC pairs of labels,
   * with blanks between them, and their log-probability: one, or `top` of them. If no words of the lexicon fit, they
   * are those of the best path, and console.warn has a note. */
  predict(text: string, settings?: Settings): {[name: string]: Entry | Entry[]};
  /** The same; of a list of texts, a list. */
  predict_text(text: string, settings?: Settings): {[name: string]: Entry | Entry[]};
  predict_text(texts: string[], settings?: Settings): {[name: string]: Entry | Entry[]}[];
  /** The tokens of a text that entries are of; none where entries are of the text. */
  tokens(text: string): string[];
}

/** The model, ready to answer. `module`: the bytes of model.wasm, where they do not lie beside index.js. */
export function load(options?: {module?: BufferSource}): Promise<Model>;
