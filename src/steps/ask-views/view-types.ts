import type { AskView } from '../../result.ts'

/** A command as policy reads it. */
export type CommandView = Extract<AskView, { kind: 'command' }>

/** What would change in a file. */
export type DiffView = Extract<AskView, { kind: 'diff' }>

/** Where a request would go. */
export type UrlView = Extract<AskView, { kind: 'url' }>
