import { lstatSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readWithoutWaiting, statsIfThere } from '../../system/index.ts'
import { readBounded } from '../disk/index.ts'
import {
  type GitContext,
  type GitEntry,
  type GitVerdict,
  gitRuleOf,
  type HashBytes,
  isGitPointer,
  judgeGitChanges,
  pointedTo,
  readGitSettings,
} from '../git/index.ts'

const MAX_POINTER_BYTES = 4096

/**
 * Whether a path leads to what git runs, obeys or trusts in a repository that is not called `.git`. File tools never
 * create a `HEAD`, and git treats no folder without one as a repository: so none can be assembled file by file, in any
 * order.
 */
export function isClosedInBareGit(root: string, names: readonly string[]): boolean {
  return names.some((name, index) => {
    const beside = (other: string) => statsIfThere(join(root, ...names.slice(0, index), other)) !== undefined
    const rule = gitRuleOf(name)
    if (rule === 'closed') return beside('HEAD')
    if (index === names.length - 1 && name.toUpperCase() === 'HEAD')
      // On some disks, `head` is the same name.
      return name === 'HEAD' || BESIDE_HEAD.some(beside)
    return rule !== 'unknown' && ['HEAD', 'objects', 'refs'].every(beside)
  })
}

const BESIDE_HEAD = ['objects', 'refs', 'hooks', 'config', 'config.worktree', 'commondir', 'gitdir']

/** Judges one file of a git folder by what is on disk now. */
export function judgeGitFile(path: string, context: GitContext): GitVerdict {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return { is: 'fine' }
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'other'
  const entry: GitEntry = {
    path: path.slice(context.gitFolder.length + 1),
    kind,
    names: kind === 'file' ? stats.nlink : 1,
    read: (maxBytes) => readWithoutWaiting(path, maxBytes),
    list: () => readdirSync(path),
  }
  return judgeGitChanges([entry], context)[0]!
}

/** Whether a `.git` file, which a worktree or a submodule has, leads to a known git folder. */
export function isHarmlessGitLink(path: string, isKnown: GitContext['isKnown']): boolean {
  const text = readWithoutWaiting(path, MAX_POINTER_BYTES)?.toString('utf8')
  return text !== undefined && isGitPointer(dirname(path), text, isKnown)
}

/** The git folder that has the config of this one: that of the repository, also for a worktree. */
export function commonGitFolder(gitFolder: string): string {
  const text = readWithoutWaiting(join(gitFolder, 'commondir'), MAX_POINTER_BYTES)?.toString('utf8')
  return (text !== undefined && pointedTo(gitFolder, text)) || gitFolder
}

/** The size of the hashes in the index of a git folder. */
export function hashBytesOf(gitFolder: string): HashBytes {
  const text = readBounded(join(commonGitFolder(gitFolder), 'config')) ?? ''
  const formats = [...readGitSettings(text)].flatMap((setting) =>
    setting !== 'unreadable' && setting.section === 'extensions' && setting.key === 'objectformat'
      ? [setting.value]
      : [],
  )
  return formats.at(-1)?.toLowerCase() === 'sha256' ? 32 : 20
}
