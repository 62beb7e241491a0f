/** Protected places: files that other programs run or trust, and what happens when a command writes there. */
export type { SetAside } from './open-below.ts'
export { recoverPlaces } from './place-keeper.ts'
export type { RunLaterChange } from './run-later-watch.ts'
