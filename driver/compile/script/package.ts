/** How answers are searched for; what is absent is as `tfc translate` and `tfc generate` have it. */
export interface Settings {
  /** hypotheses kept; 1 is greedy */
  beam?: number;
  /** answers to a line, at most `beam` */
  nbest?: number;
  /** scores are log p / ((5 + n) / 6) ^ length_penalty */
  length_penalty?: number;
  /** the longest answer: length_factor × tokens of the text + length_extra, at most length_limit */
  length_factor?: number;
  length_extra?: number;
  length_limit?: number;
  /** no so many tokens in a row twice; 0: any */
  no_repeat_ngram?: number;
  /** divides logits of tokens there already */
  repetition_penalty?: number;
  /** 1: draw at random instead of searching */
  sample?: 0 | 1;
  temperature?: number;
  top_k?: number;
  top_p?: number;
  seed?: number;
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
