  /** The text and how it goes on. */
  generate(text: string, settings?: Settings): string;