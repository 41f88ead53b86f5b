  /** All answers to each line of a text; lines count from 0. */
  answers(text: string, settings?: Settings): (Answer & {line: number})[];
  /** The best answer to a line. */
  translate(text: string, settings?: Settings): string;
  /** The best answer to each line of a text, as many lines, where \n stands for a line break within one; of a list of
   * lines, a list. */
  translate_text(text: string, settings?: Settings): string;
  translate_text(lines: string[], settings?: Settings): string[];
  /** The best answers to a line, best first. */
  nbest(text: string, count: number, settings?: Settings): Answer[];