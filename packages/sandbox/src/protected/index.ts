/** Protected places: files that other programs run or trust, and what happens when a command writes there. */
export type { SetAside } from './disk/index.ts'
export { type RunLaterChange, recoverPlaces } from './keeper/index.ts'
