// biome-ignore-all assist/source/organizeImports: this is the order of help, documentation and capabilities
/** The features of every hub. A new one is a folder and a line here; then run npm run generate. */
export { memory } from '@tool-hub/features/memory/index'
export { sessions } from '@tool-hub/features/sessions/index'
export { messages } from '@tool-hub/features/messages/index'
export { schedules } from '@tool-hub/features/schedules/index'
export { browser } from '@tool-hub/browser'
export { canvas } from '@tool-hub/features/canvas/index'
export { code } from '@tool-hub/code'
export { toolSearch } from '@tool-hub/features/tool-search/index'
