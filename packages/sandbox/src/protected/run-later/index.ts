/** Files that other programs run or obey later because hooks and settings name them. */
export { type ContentChange, isManifest, mayRunLater, type RunLater, RunLaterFiles } from './run-later-files.ts'
