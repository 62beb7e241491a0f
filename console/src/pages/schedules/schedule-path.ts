/** Where a schedule is shown, or all of them. */
export function schedulePath(id: string | undefined): string {
  return id === undefined ? '/schedules' : `/schedules/${encodeURIComponent(id)}`
}
