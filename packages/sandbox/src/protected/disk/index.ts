/** Reads and renames what commands may change meanwhile. */
export { contentMark, isSettled, settlesAt } from './change-time.ts'
export { FileMemo, type NoteSource, readBounded } from './file-memo.ts'
export { isTooDeep, type SetAside, setAside, withOpened } from './open-below.ts'
export { isEnterable, isUs, statsAt } from './reachable.ts'
