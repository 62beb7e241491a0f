/** Guarded access to files: the only way in which tools read, change and search them. */

export { hasVariables } from '../protected/names/index.ts'
export { isManifest, mayRunLater } from '../protected/repository/index.ts'
export { fileAccess } from './access/choose-access.ts'
export type { FoundEntry, RestoreFiles } from './change/restore-handle.ts'
export { treeDigest } from './change/tree.ts'
export { createFilesGuard, type FilesGuard } from './files-guard.ts'
export type { RootOptions } from './roots.ts'
export { checkRipgrep, RIPGREP_HINT } from './search/rg-process.ts'
