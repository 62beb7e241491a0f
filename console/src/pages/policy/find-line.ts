/** The first line of the rules that a message names, as in `rules:3:4 policy[1]: …`. */
export function findLine(message: string): number | undefined {
  const found = /\brules:(\d{1,6})\b/.exec(message)
  return found ? Number(found[1]) : undefined
}
