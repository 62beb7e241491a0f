import type { Stats } from 'node:fs'
import { basename } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { hasVariables } from '@tool-hub/sandbox/files'
import { readRegular, statsIfThere } from '@tool-hub/sandbox/system'
import { type Redactor, secretVariables } from '../records/redaction/index.ts'

const MAX_FILES = 50
const MAX_BYTES = 64 * 1024
const MAX_VALUES = 500

/**
 * Redacts the values of files that commands do not see, such as `.env`: the history of git may contain them. A value is
 * redacted until the hub ends, also after the file has changed.
 */
export class HiddenValues {
  readonly #redactor: Redactor
  readonly #states = new Map<string, string>()
  #valuesLeft = MAX_VALUES

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Reads the files among the paths that are new or have changed. */
  async learn(paths: readonly string[]): Promise<void> {
    const found = paths.flatMap((path) => {
      const stats = hasVariables(basename(path).toLowerCase()) ? inspect(path) : undefined
      return stats?.isFile() ? [{ path, stats }] : []
    })
    // The owner's files come first: those that an agent makes are newer, and cannot use up the room.
    found.sort((a, b) => a.stats.ctimeMs - b.stats.ctimeMs)
    for (const { path, stats } of found.slice(0, MAX_FILES)) {
      const state = `${stats.ino} ${stats.ctimeMs} ${stats.size}`
      if (this.#states.get(path) === state) continue
      // A file that is not readable for this user has no values that its commands could find.
      const text = await readRegular(path, MAX_BYTES).catch(() => '')
      this.#states.set(path, state)
      const values = secretVariables(text).slice(0, this.#valuesLeft)
      this.#valuesLeft -= values.length
      this.#redactor.hide(values)
    }
  }
}

/** A running command may have closed a folder along the path, and can open it again: then the values are unknown. */
function inspect(path: string): Stats | undefined {
  try {
    return statsIfThere(path)
  } catch (error) {
    if (errnoOf(error) !== 'EACCES') throw error
    throw new ToolError('SANDBOX_UNAVAILABLE', `${path} cannot be read to redact it: a folder above is closed.`, {
      hint: 'End background commands that change its mode, or make it readable for the user of the hub.',
      cause: error,
    })
  }
}
