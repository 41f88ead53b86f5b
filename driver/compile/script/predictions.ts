export interface Settings {
  /** the most probable classes that are given: a whole number of at least 1 (all; of a set of labels, those in it) */
  top?: number;
  /** of labels of CTC: how many prefixes are kept, a whole number of at least 1 (1: the best path) */
  beam?: number;
  /** of labels of CTC: the words that results consist of, one a line, its labels with blanks between */
  lexicon?: string;
  /** with a lexicon: the label between words (none: a result is one word) */
  separator?: string;
}

/** Of classes, and of labels of a set, their names and probabilities, the most probable first; numbers, or one. */
export type Entry = [name: string | number, probability: number][] | number[] | number;