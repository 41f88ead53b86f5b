  /** What the model predicts of a text, by name: an entry, or one for each token; of CTC pairs of labels,
   * with blanks between them, and their log-probability: one, or `top` of them. If no words of the lexicon fit, they
   * are those of the best path, and console.warn has a note. */
  predict(text: string, settings?: Settings): {[name: string]: Entry | Entry[]};
  /** The same; of a list of texts, a list. */
  predict_text(text: string, settings?: Settings): {[name: string]: Entry | Entry[]};
  predict_text(texts: string[], settings?: Settings): {[name: string]: Entry | Entry[]}[];
  /** The tokens of a text that entries are of; none where entries are of the text. */
  tokens(text: string): string[];