/** A repository on disk, and what the settings of its owner name. */
export { GitAround, workTreesAround } from './git-around.ts'
export { commonGitFolder, hashBytesOf, isClosedInBareGit, isHarmlessGitLink, judgeGitFile } from './git-folder.ts'
export { hookFoldersOf, readOwnSettings } from './git-settings.ts'
