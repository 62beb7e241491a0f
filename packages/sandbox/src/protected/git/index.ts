/** What git does with the files in a git folder. Pure: nothing here reads the disk. */
export { type GitSetting, isPlainWay, MAX_CONFIG_BYTES, readGitSettings } from './config-file.ts'
export { type HashBytes, type IndexedFile, MAX_INDEX_BYTES } from './index-file.ts'
export {
  type GitContext,
  type GitEntry,
  type GitReport,
  type GitVerdict,
  isGitPointer,
  isJudgedByContent,
  judgeGitChanges,
  judgeIndexInSteps,
  judgeRefTableInSteps,
  pointedTo,
} from './judge.ts'
export { type GitRule, gitRuleOf, isGitFolder } from './layout.ts'
export {
  applyDelta,
  countPacked,
  MAX_PACKED_HEADER_BYTES,
  type PackedHeader,
  type PackIndex,
  packedOffset,
  readPackedHeader,
  readPackIndexInSteps,
  sizeAfterDelta,
} from './pack.ts'
