import { appendFileSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { prepareMissingDataFolder } from '../disk/data-folder.ts'
import { errnoOf } from '../disk/errno.ts'
import { GroupCommit } from '../disk/group-commit.ts'
import { syncFolder } from '../disk/sync-folder.ts'
import { messageOf, ToolError } from '../errors.ts'

const MOST_FILES = 100_000

/**
 * Files that hold content from outside, remembered beyond the run that wrote them: whoever reads one is tainted by it.
 * One JSON text a line. Looked at once a hub; what another process adds meanwhile counts from the next start on.
 */
export class UntrustedFiles {
  readonly #file: string
  readonly #group = new GroupCommit(() => this.#sync())
  #added = 0
  #synced = 0
  #paths: Set<string> | undefined

  constructor(file: string) {
    this.#file = file
  }

  has(path: string): boolean {
    return this.#all().has(path)
  }

  add(path: string): void {
    const all = this.#all()
    if (all.has(path) || all.size >= MOST_FILES) return
    prepareMissingDataFolder(dirname(this.#file))
    appendFileSync(this.#file, `${JSON.stringify(path)}\n`, { mode: 0o600 })
    all.add(path)
    this.#added++
  }

  /** Resolves when all that was added so far survives a loss of power; undefined when it does already. */
  synced(): Promise<void> | undefined {
    return this.#synced === this.#added ? undefined : this.#group.wait()
  }

  async #sync(): Promise<void> {
    const added = this.#added
    try {
      const file = await open(this.#file, 'r+')
      await file.sync().finally(() => file.close())
      if (this.#synced === 0) await syncFolder(dirname(this.#file))
    } catch (cause) {
      throw new ToolError(
        'RECORDS_UNAVAILABLE',
        `Which files are from outside cannot be written down in ${this.#file}: ${messageOf(cause)}`,
        { cause },
      )
    }
    this.#synced = added
  }

  #all(): Set<string> {
    this.#paths ??= new Set(readLines(this.#file))
    return this.#paths
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, MOST_FILES)
      .flatMap((line) => readLine(line) ?? [])
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Nothing for a line that a crash has cut. */
function readLine(line: string): string | undefined {
  try {
    const path: unknown = JSON.parse(line)
    return typeof path === 'string' ? path : undefined
  } catch {
    return undefined
  }
}
