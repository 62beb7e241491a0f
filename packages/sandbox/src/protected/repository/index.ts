/** A repository on disk: what the settings and hooks of its owner name, and what runs later because of them. */

export { commonGitFolder, hashBytesOf, isClosedInBareGit, isHarmlessGitLink, judgeGitFile } from './git-folder.ts'
export { GitAround, workTreesAround } from './git-settings.ts'
export {
  type ContentChange,
  isManifest,
  mayRunLater,
  type RunLater,
  RunLaterFiles,
} from './run-later-files.ts'
