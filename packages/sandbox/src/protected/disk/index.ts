/** Reads and renames what commands may change meanwhile. */
export { contentMark, FileMemo, isSettled, type NoteSource, readBounded, settlesAt } from './file-memo.ts'
export { isTooDeep, type SetAside, setAside, withOpened } from './open-below.ts'
export { isEnterable, isUs, statsAt } from './reachable.ts'
