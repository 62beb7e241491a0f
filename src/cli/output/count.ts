/** `1 call`, `2 calls`. */
export function countNoun(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
