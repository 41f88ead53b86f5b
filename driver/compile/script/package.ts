/** How answers are searched for; what is absent is as `tfc translate` and `tfc generate` have it. */
export interface Settings {
@@settings
}

export interface Answer {
  text: string;
  /** what answers are ranked by */
  score: number;
  log_probability: number;
}

export interface Model {
@@types
}

/** The model, ready to answer. `module`: the bytes of model.wasm, where they do not lie beside index.js. */
export function load(options?: {module?: BufferSource}): Promise<Model>;
@@attention_types
