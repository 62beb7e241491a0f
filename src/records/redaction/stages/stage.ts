/** One step of a stream's way: takes something out of a text that comes piece by piece. */
export interface Stage {
  /** What of all text so far is certain now; what may be the beginning of a secret waits. */
  push(text: string): string
  /** Nothing more came for a while: what waits goes out, too, unless it looks like a secret. */
  flush(): string
  /** Nothing more comes at all. */
  end(): string
}
