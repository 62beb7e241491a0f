const MOST = 10_000

/** How many entries a list gives: as many as asked for, and never more than 10,000. */
export function pageSize(limit: number | undefined): number {
  if (limit === undefined || Number.isNaN(limit)) return MOST
  return Math.min(Math.max(0, Math.trunc(limit)), MOST)
}
