import { dirname } from 'node:path'
import { statsIfThere } from '../../system/index.ts'
import { readBounded } from '../disk/index.ts'
import { isManifest, type RunLaterFiles } from '../repository/index.ts'
import type { SurveyFindings } from '../survey/index.ts'

/** A file that commands have changed and that other programs run or obey later. */
export interface RunLaterChange {
  readonly path: string
  /** `eslint (started by a git hook or by settings of the project)`. */
  readonly by: string
}

interface State {
  /** Changes with every change of the file; empty if there is none. */
  readonly mark: string
  /** The content of a package.json, of which some keys matter. */
  readonly text?: string
}

type Found = Pick<SurveyFindings, 'later' | 'gitFolders'>

/** Notices which of the files that run later commands have changed. */
export class RunLaterWatch {
  readonly #roots: readonly string[]
  readonly #files: RunLaterFiles
  #before: Map<string, State> | undefined

  constructor(roots: readonly string[], files: RunLaterFiles) {
    this.#roots = roots
    this.#files = files
  }

  /** Call before a command starts; what others that run have changed until then still counts. */
  begin(found: Found): void {
    this.#before ??= this.#look(found)
  }

  /** Returns what has changed since the last time. */
  changed(found: Found): RunLaterChange[] {
    const before = this.#before ?? new Map<string, State>()
    const after = this.#look(found, before)
    this.#before = after
    return [...after].flatMap(([path, state]) => {
      const old = before.get(path)
      if ((old?.mark ?? '') === state.mark) return []
      const change = isManifest(path) ? { before: old?.text, after: state.text } : undefined
      const by = this.#files.find(path, change)?.by
      return by === undefined ? [] : [{ path, by }]
    })
  }

  /** Call when no command runs any more: what changes from now on is not a command's. */
  end(): void {
    this.#before = undefined
  }

  #look({ later, gitFolders }: Found, known?: ReadonlyMap<string, State>): Map<string, State> {
    const paths = this.#files.choose(later, [...this.#roots, ...gitFolders.map((folder) => dirname(folder))])
    return new Map(paths.map((path) => [path, stateOf(path, known?.get(path))]))
  }
}

function stateOf(path: string, known?: State): State {
  const stats = statsIfThere(path)
  if (!stats?.isFile()) return { mark: '' }
  const mark = `${stats.ino} ${stats.ctimeMs} ${stats.size}`
  if (known?.mark === mark) return known
  return isManifest(path) ? { mark, text: readBounded(path) } : { mark }
}
