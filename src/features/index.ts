// biome-ignore-all assist/source/organizeImports: this is the order of help, documentation and capabilities
/** The features of every hub. A new one is a folder and a line here; then run npm run generate. */
export { memory } from './memory/index.ts'
export { sessions } from './sessions/index.ts'
export { messages } from './messages/index.ts'
export { schedules } from './schedules/index.ts'
export { browser } from './browser/index.ts'
export { canvas } from './canvas/index.ts'
export { code } from './code/index.ts'
export { toolSearch } from './tool-search/index.ts'
