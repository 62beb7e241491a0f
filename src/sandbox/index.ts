/** What the folders of the sandbox share with features that run in it. */
export { throwIfAborted } from './lifecycle.ts'
