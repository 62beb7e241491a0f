/** The path of one thing of a list. */
export function at(path: string, id: string): string {
  return `${path}/${encodeURIComponent(id)}`
}
