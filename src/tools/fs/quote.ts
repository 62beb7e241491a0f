/** A text as a message shows it: quoted, control characters escaped, never endless. */
export function quote(text: string, most = 200): string {
  return JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text)
}

/** `1 file`, `2 files`. */
export function countOf(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
