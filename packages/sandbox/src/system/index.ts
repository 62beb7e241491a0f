export { codeFiles, nodeModulesOf, type SelfReference, selfReference, syntaxLine, takenOver } from './code-files.ts'
export { adoptDataFolder, assertOwnDataFolder, prepareDataFolder, prepareMissingDataFolder } from './data-folder.ts'
export { GroupCommit, syncFolder } from './durable-writes.ts'
export { isLocked, type Lock, takeLock } from './file-lock.ts'
export { type FoundIn, findInFolders, listOurFiles, lookAtFolder, watchFolder } from './folders.ts'
export { closeServer, connectionLimit, isLoopback, listening, parseListen } from './listen.ts'
export {
  builtFile,
  type OwnModule,
  ownCodeFolder,
  ownFile,
  ownModule,
  ownPackageFolder,
  readBuiltFile,
} from './own-file.ts'
export { expandHome, realIfThere, realPath, resolvePath, statsIfThere, UNREACHABLE } from './paths.ts'
export { createPrivateFolder, isLeftBehind, privateFolder } from './private-folder.ts'
export {
  addProcessDirectory,
  currentProcess,
  descriptorLimit,
  isAlive,
  isOwnerAlive,
  isRunningHere,
  newOwner,
  openDescriptors,
  type ProcessDirectory,
  type ProcessIdentity,
  retireOwner,
} from './processes.ts'
export { TimeSlice } from './time-slice.ts'
export {
  assertOurFolder,
  assertOurs,
  distrust,
  openOurs,
  openRegular,
  readOurs,
  readRegular,
  readWithoutWaiting,
} from './trusted-files.ts'
