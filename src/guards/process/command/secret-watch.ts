import type { SecretFiles } from '../jail/secret-files.ts'

/** Files with secrets in the roots, which commands do not see: found before the first, looked for again after each. */
export class SecretWatch {
  readonly #find: () => Promise<SecretFiles>
  #known: Promise<SecretFiles> | undefined
  #isLooking = false

  constructor(find: () => Promise<SecretFiles>) {
    this.#find = find
  }

  /** Those known now. */
  async known(): Promise<SecretFiles> {
    this.#known ??= this.#find()
    try {
      return await this.#known
    } catch (error) {
      // This command does not run without knowing what to hide; the next looks again.
      this.#known = undefined
      throw error
    }
  }

  /** Looks again while nobody waits. */
  async refresh(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      this.#known = Promise.resolve(await this.#find())
    } catch {
      // Looked for before the next command, which then says why it cannot run.
      this.#known = undefined
    } finally {
      this.#isLooking = false
    }
  }
}
