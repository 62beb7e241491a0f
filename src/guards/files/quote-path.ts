const LONGEST = 200

/** A path as a message shows it: quoted, control characters escaped, never endless. */
export function quotePath(path: string): string {
  return JSON.stringify(path.length > LONGEST ? `${path.slice(0, LONGEST)}…` : path)
}
