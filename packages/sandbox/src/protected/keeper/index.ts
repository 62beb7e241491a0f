/** Keeps protected places as they were while commands run. */
export type { KeptFindings } from './made-by-commands.ts'
export { type KeptCommand, PlaceKeeper, recoverPlaces } from './place-keeper.ts'
export type { RunLaterChange } from './run-later-watch.ts'
