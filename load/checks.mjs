const MAX_SHOWN = 5

/** What was looked at, and whether it is as it should be. */
export class Checks {
  #passed = 0
  #failed = 0

  /** One check; a failure says what was found. */
  that(name, isRight, found = '') {
    if (isRight) this.#passed++
    else this.#failed++
    const told = typeof found === 'string' ? found : JSON.stringify(found)
    console.log(`  ${isRight ? 'ok  ' : 'FAIL'} ${name}${told === '' ? '' : `: ${told.slice(0, 1_000)}`}`)
  }

  /** A check that nothing of a kind was found; a failure says how much, and shows the first. */
  none(name, found) {
    const shown = `${found.length}, such as ${JSON.stringify(found.slice(0, MAX_SHOWN))}`
    this.that(name, found.length === 0, found.length === 0 ? '' : shown)
  }

  /** A check that throws has failed, and the others go on. */
  async try(name, work) {
    try {
      await work()
    } catch (error) {
      this.that(name, false, error.stack ?? String(error))
    }
  }

  /** The last line, which CI adds up. */
  finish() {
    console.log(`${this.#passed} passed, ${this.#failed} failed`)
    return this.#failed === 0
  }
}
