/** Orders ids and names by their code units: negative if `a` comes first, 0 if they are the same. */
export function compareIds(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
