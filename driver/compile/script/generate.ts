  /** The text and how it goes on. */
  generate(text: string, settings?: Settings): string;
  /** The same; of a list of texts, a list. */
  generate_text(text: string, settings?: Settings): string;
  generate_text(texts: string[], settings?: Settings): string[];