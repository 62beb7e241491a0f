import { signInToServer } from '../tool-hub.mjs'

const MAX_SIGN_INS = 2
const SIGN_IN_TIMEOUT_MS = 20_000

/**
 * The person behind the hub. Confirms what is asked, leaves all else in a form as it was, and signs in when a failed call
 * says so. Their browser follows every redirect.
 */
export class Person {
  #where
  #host
  #signIns = 0

  /** `where`: the server's name, its address, how it knows this client, and who receives what a person is shown. */
  constructor(where) {
    this.#where = where
  }

  /** A source without tools: the way to what a hub does for its sources. */
  get source() {
    return {
      name: 'person',
      start: (host) => {
        this.#host = host
      },
    }
  }

  answer({ form }) {
    return Object.hasOwn(form?.properties ?? {}, 'confirmed') ? { confirmed: true } : {}
  }

  /** Does what a failed call says; true when the call is worth another try. */
  async help({ error }) {
    if (!error?.fix.hint?.includes('tool-hub mcp login') || this.#signIns >= MAX_SIGN_INS) return false
    this.#signIns++
    await signInToServer({
      ...this.#where,
      host: this.#host,
      // The authorization servers of the suite are on this machine, as no other is.
      fetch: (url, init) => this.#host.webFetch({ origins: [new URL(url).origin] })(url, init),
      openBrowser: async (url) => {
        const page = await fetch(url)
        await page.text()
      },
      signal: AbortSignal.timeout(SIGN_IN_TIMEOUT_MS),
    })
    return true
  }
}
