/** What came of a script: who called, in which run, what the model said last, and what it heard of each call of each turn. */
export interface Conversation {
  readonly caller: string
  readonly run: string
  readonly said: string
  readonly heard: readonly (readonly { readonly isError: boolean; readonly text: string }[])[]
}
