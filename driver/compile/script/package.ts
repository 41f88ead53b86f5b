@@answers

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
@@types
}

/** The model, ready to answer. `module`: the bytes of model.wasm, where they do not lie beside index.js. */
export function load(options?: {module?: BufferSource}): Promise<Model>;
@@attention_types
