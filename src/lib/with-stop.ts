/** A text that others are joined to, ended as a sentence. */
export function withStop(text: string): string {
  return /[.!?…:]$/.test(text) ? text : `${text}.`
}
