import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { errnoOf } from '../disk/errno.ts'

const MOST_FILES = 100_000

/**
 * Files that hold content from outside, remembered beyond the run that wrote them: whoever reads one is tainted by it.
 * One JSON text a line. Looked at once a hub; what another process adds meanwhile counts from the next start on.
 */
export class UntrustedFiles {
  readonly #file: string
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
    all.add(path)
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
    appendFileSync(this.#file, `${JSON.stringify(path)}\n`, { mode: 0o600 })
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
