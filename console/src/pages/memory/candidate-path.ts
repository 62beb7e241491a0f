/** Where a candidate is shown, or all of them. */
export function candidatePath(id: string | undefined): string {
  return id === undefined ? '/memory' : `/memory/${encodeURIComponent(id)}`
}
