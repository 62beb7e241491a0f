import type { QuestionReply } from '../options.ts'

/** What `onQuestion` may answer where it knows whose answer it is, and which way it came. */
export class GivenAnswer {
  readonly [key: string]: unknown
  readonly reply: QuestionReply
  readonly by: string
  readonly via: string

  constructor(reply: QuestionReply, { by, via }: { readonly by: string; readonly via: string }) {
    this.reply = reply
    this.by = by
    this.via = via
  }
}
