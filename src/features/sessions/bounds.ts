/** What one message, or one task, may have. */
export const MAX_TEXT_CHARS = 20_000
/** Messages that may wait unread in one inbox. */
export const MAX_UNREAD = 1_000
/** Messages that are read at once. */
export const MAX_READ = 20
/** What is kept of the result of a session; the rest is cut. */
export const MAX_RESULT_CHARS = 50_000
export const MAX_REASON_CHARS = 2_000
export const MAX_DEPTH = 5
export const MAX_RUNNING = 16
/** So many times as many may go on in one process, whatever the number of roots: each may be a program. */
export const ROOTS_AT_ONCE = 16
/** How long a session lasts unless its runner says. */
export const LIFE_MS = 3_600_000
/** How often whoever waits looks whether the other side is still there. */
export const LOOK_MS = 1_000
/** Calls of one session under way at once. */
export const MAX_CONCURRENT_CALLS = 32
/** One line, or one answer, of a runner. */
export const MAX_LINE_BYTES = 1_000_000
/** A name for itself that no session may have. */
export const OWNER = 'owner'
/** The session that began the one who says it. */
export const PARENT = 'parent'

/** A text with its beginning kept, and told how much was cut. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most)}\n[${text.length - most} characters were cut]`
}
