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