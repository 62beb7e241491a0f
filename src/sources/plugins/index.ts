export { type FolderOptions, fromFolder } from './folder-source.ts'
export { type IsolateOptions, isolatePlugin } from './isolated-plugin.ts'
