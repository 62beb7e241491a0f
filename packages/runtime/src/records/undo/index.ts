export { type RecordedChange, type RunHistory, readChangeHistory, readKept } from './read-history.ts'
export { createRunJournal, hashOf } from './undo-folder.ts'
