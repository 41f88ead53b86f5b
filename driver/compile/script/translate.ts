  /** All answers to each line of a text; lines count from 0. */
  answers(text: string, settings?: Settings): (Answer & {line: number})[];
  /** The best answer to a line. */
  translate(text: string, settings?: Settings): string;
  /** The best answers to a line, best first. */
  nbest(text: string, count: number, settings?: Settings): Answer[];