/** Reads and renames what commands may change meanwhile. */
export { contentMark, FileMemo, isSettled, type NoteSource, readBounded, settlesAt } from './file-memo.ts'
export { isEnterable, isTooDeep, isUs, type SetAside, setAside, statsAt, withOpened } from './open-below.ts'
