import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isWithin } from '../../lib/index.ts'
import { realPath, statsIfThere } from '../../system/index.ts'
import { placesNamedByConfig } from './git-folder.ts'

const MAX_POINTER_BYTES = 4096

/** The places that a config names; valid as long as the config is the same file with the same content. */
interface Named {
  readonly state: string
  readonly places: readonly string[]
}

/**
 * Determines whether git runs or reads a path because of the config of an enclosing repository: hooks elsewhere, included
 * files, scripts of filters and aliases. The repository may begin above the roots.
 */
export class GitAround {
  readonly #named = new Map<string, Named>()

  names(path: string): boolean {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      if (this.#placesOf(folder).some((place) => isWithin(place, path))) return true
      if (folder === dirname(folder)) return false
    }
  }

  #placesOf(workTree: string): readonly string[] {
    const gitFolder = commonGitFolder(join(workTree, '.git'))
    const config = gitFolder && statsIfThere(join(gitFolder, 'config'))
    if (!config) return []
    const state = `${gitFolder} ${config.ino} ${config.ctimeMs} ${config.size}`
    const known = this.#named.get(workTree)
    if (known?.state === state) return known.places
    const named = placesNamedByConfig(gitFolder, workTree)
    const places = [...new Set(named.flatMap((place) => [place, realPath(place)]))]
    this.#named.set(workTree, { state, places })
    return places
  }
}

/** The git folder that contains the config: that of the repository, also for a worktree or a submodule, whose `.git` is a file. */
function commonGitFolder(path: string): string | undefined {
  const stats = statsIfThere(path)
  if (!stats?.isFile()) return stats && path
  const gitFolder = pointerIn(path)
  const common = gitFolder && pointerIn(join(gitFolder, 'commondir'))
  return common ?? gitFolder
}

/** The folder that a pointer file, which has one line, names. */
function pointerIn(file: string): string | undefined {
  const stats = statsIfThere(file)
  if (!stats?.isFile() || stats.size > MAX_POINTER_BYTES) return undefined
  return resolve(
    dirname(file),
    readFileSync(file, 'utf8')
      .trimEnd()
      .replace(/^gitdir: /, ''),
  )
}
