
export interface Settings {
  /** with `answers` and `nbest`: gives each answer its `attention` */
  attention?: boolean;
}

export interface Answer {
  attention?: Attention;
}

/** What an answer was made from: the last attention over the text, in the mean of its heads. */
export interface Attention {
  /** tokens of the line, and what stands around them */
  source: string[];
  /** tokens of the answer and its end */
  target: string[];
  /** the word, from 0, that each token is a part of, in the line and in the answer; -1: begin and end */
  source_words: number[];
  target_words: number[];
  /** a row a token of `target`, of as many as `source` has; each row sums to 1 */
  weights: number[][];
}