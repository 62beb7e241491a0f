/** The address of a run, or of a call in it. */
export function runPath(run: string, call?: string): string {
  const path = `/runs/${encodeURIComponent(run)}`
  return call === undefined ? path : `${path}/${encodeURIComponent(call)}`
}
