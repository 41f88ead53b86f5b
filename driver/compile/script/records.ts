  /** All answers to each of the records; `line` is the number of the record, from 0. */
  answers(records: Fields[], settings?: Settings): (Answer & {line: number})[];
  /** The best text of a record. */
  translate(record: Fields, settings?: Settings): string;
  /** The best texts of a record, best first. */
  nbest(record: Fields, count: number, settings?: Settings): Answer[];
