export { type RecordedChange, type RunHistory, readChangeHistory } from './read-history.ts'
export { readKept } from './read-kept.ts'
export { createRunJournal } from './run-journal.ts'
export { hashOf } from './undo-folder.ts'
