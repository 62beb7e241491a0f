import type { Stats } from 'node:fs'

/** Clocks of file systems are coarse: the change time of the next change may be the same for this long. */
const COARSE_MS = 50
/** Some file systems count whole seconds, or every second one. */
const VERY_COARSE_MS = 2_050

/** When a change gets another change time than this one, at the latest. */
export function settlesAt({ ctimeMs }: Pick<Stats, 'ctimeMs'>): number {
  return ctimeMs + (ctimeMs % 1000 === 0 ? VERY_COARSE_MS : COARSE_MS)
}

/** Whether every change from now on gets another change time: only then may what was read be remembered by it. */
export function isSettled(stats: Pick<Stats, 'ctimeMs'>): boolean {
  return Date.now() > settlesAt(stats)
}

/**
 * Identifies the content of a file or a folder: no command can set these. The time alone does not: of two that were
 * changed at the same time, one can take the place of the other when a folder around it is renamed.
 */
export function contentMark({ ino, ctimeMs, size }: Pick<Stats, 'ino' | 'ctimeMs' | 'size'>): string {
  return `${ino} ${ctimeMs} ${size}`
}
