export { type RecordedChange, type RunHistory, readChangeHistory, readKept } from './read-history.ts'
export { createRunJournal } from './run-journal.ts'
export { hashOf } from './undo-folder.ts'
