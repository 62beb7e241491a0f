import { existsSync } from 'node:fs'
import type { SecretFiles } from '../jail/secret-files.ts'

/** Files with secrets in the roots, which commands do not see: looked for before the first, and again when folders change. */
export class SecretWatch {
  readonly #find: () => Promise<SecretFiles>
  #known: Promise<SecretFiles> | undefined

  constructor(find: () => Promise<SecretFiles>) {
    this.#find = find
  }

  /** Those there are now. A command does not run without knowing what to hide. */
  async known(): Promise<SecretFiles> {
    try {
      const found = await this.#known
      if (!found || found.hasChanged()) this.#known = this.#findAgain(found)
      return await this.#known!
    } catch (error) {
      this.#known = undefined
      throw error
    }
  }

  /** Looks again while nobody waits. */
  async refresh(): Promise<void> {
    // What fails now is tried before the next command, which then says why it cannot run.
    await this.known().catch(() => undefined)
  }

  /** What was hidden stays so: a command could make so many that look like secrets that the search ends before the real ones. */
  async #findAgain(before: SecretFiles | undefined): Promise<SecretFiles> {
    const found = await this.#find()
    if (found.isComplete || !before) return found
    return { ...found, files: [...new Set([...before.files.filter(existsSync), ...found.files])] }
  }
}
