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
      if (!found || found.hasChanged()) this.#known = this.#find()
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
}
