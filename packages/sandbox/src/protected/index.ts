/** Protected places: files that other programs run or trust, and what happens when a command writes there. */
export type { SetAside } from './disk/index.ts'
export type { RunLaterChange } from './keeper/index.ts'
export { recoverPlaces } from './keeper/index.ts'
