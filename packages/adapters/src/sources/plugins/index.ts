export { type FolderOptions, fromFolder, type IsolateOptions, isolatePlugin } from './plugin-sources.ts'
