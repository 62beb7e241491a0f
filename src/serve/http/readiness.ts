import type { Clock } from '../../clock.ts'
import { messageOf, ToolError } from '../../errors.ts'
import type { Service } from '../service.ts'

const FRESH_MS = 1_000
const TIMEOUT_MS = 5_000

/** Whether the service can take calls. Everybody may ask, and asking writes to the store: so it is looked at once a second. */
export class Readiness {
  readonly #service: Service
  readonly #clock: Clock
  #looked: { readonly at: number; readonly problem: Promise<string | undefined> } | undefined

  constructor(service: Service, clock: Clock) {
    this.#service = service
    this.#clock = clock
  }

  /** What is wrong; undefined when nothing is. */
  problem(): Promise<string | undefined> {
    const now = this.#clock.now()
    if (!this.#looked || Math.abs(now - this.#looked.at) >= FRESH_MS) this.#looked = { at: now, problem: this.#look() }
    return this.#looked.problem
  }

  async #look(): Promise<string | undefined> {
    const { store, hub } = this.#service
    let cancel = () => {}
    const late = new Promise<never>((_, reject) => {
      const tooLate = () => reject(new ToolError('TIMEOUT', `The store and the tools took more than ${TIMEOUT_MS} ms.`))
      cancel = this.#clock.after(TIMEOUT_MS, tooLate, { background: true })
    })
    try {
      await Promise.race([Promise.all([store.check(), hub.ready()]), late])
      return undefined
    } catch (error) {
      return messageOf(error)
    } finally {
      cancel()
    }
  }
}
