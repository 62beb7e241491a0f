/** What the parts of the sandbox share with features that run in it. */
export { throwIfAborted } from './throw-if-aborted.ts'
