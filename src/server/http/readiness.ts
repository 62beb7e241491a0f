import { type Clock, ToolError } from '../../core/index.ts'
import { descriptorLimit, openDescriptors } from '../../system/index.ts'
import type { Service } from '../service.ts'

const FRESH_MS = 1_000

const TIMEOUT_MS = 5_000

/** With fewer free descriptors, a call that starts a command or opens files may fail. */
const MIN_FREE_DESCRIPTORS = 64

/**
 * Checks whether the service can take calls. The check writes to the store and everybody may request it, so its result
 * is cached for a second.
 */
export class Readiness {
  readonly #service: Pick<Service, 'store' | 'hub' | 'checkRecords'>
  readonly #clock: Clock
  readonly #descriptors: Descriptors
  #looked: { readonly at: number; readonly problem: Promise<NotReady | undefined> } | undefined

  constructor(
    service: Pick<Service, 'store' | 'hub' | 'checkRecords'>,
    clock: Clock,
    descriptors: Descriptors = { limit: descriptorLimit, open: openDescriptors },
  ) {
    this.#service = service
    this.#clock = clock
    this.#descriptors = descriptors
  }

  /** Returns the problem; `undefined` if the service is ready. */
  problem(): Promise<NotReady | undefined> {
    const now = this.#clock.now()
    if (!this.#looked || Math.abs(now - this.#looked.at) >= FRESH_MS) this.#looked = { at: now, problem: this.#look() }
    return this.#looked.problem
  }

  async #look(): Promise<NotReady | undefined> {
    const { store, hub } = this.#service
    const exhausted = this.#lookAtDescriptors()
    if (exhausted !== undefined) return { part: 'descriptors', problem: exhausted }
    const failure = await this.#failureOf(() => store.check())
    if (failure) return { part: 'store', problem: storeProblem(failure.error) }
    if (await this.#failureOf(() => this.#service.checkRecords()))
      return { part: 'records', problem: 'Calls cannot be recorded: the disk of the records is full or refuses.' }
    if (await this.#failureOf(() => hub.ready())) return { part: 'tools', problem: 'The tools are not ready.' }
    return undefined
  }

  #lookAtDescriptors(): string | undefined {
    try {
      const limit = this.#descriptors.limit()
      if (limit === Number.POSITIVE_INFINITY) return undefined
      const open = this.#descriptors.open()
      if (limit - open >= MIN_FREE_DESCRIPTORS) return undefined
      return `File descriptors are nearly exhausted: ${open} of ${limit} are open.`
    } catch {
      // The check needs a descriptor, too.
      return 'File descriptors are exhausted.'
    }
  }

  /** Returns why a check fails or times out; `undefined` if it succeeds. */
  async #failureOf(check: () => unknown): Promise<{ readonly error: unknown } | undefined> {
    let cancel = () => {}
    const late = new Promise<never>((_, reject) => {
      const tooLate = () => reject(new ToolError('TIMEOUT', `It took more than ${TIMEOUT_MS} ms.`))
      cancel = this.#clock.after(TIMEOUT_MS, tooLate, { background: true })
    })
    try {
      await Promise.race([(async () => check())(), late])
      return undefined
    } catch (error) {
      return { error }
    } finally {
      cancel()
    }
  }
}

/** The problem, without details that not everybody may read. */
interface NotReady {
  readonly part: 'descriptors' | 'store' | 'records' | 'tools'
  readonly problem: string
}

/** The limit and the number of open descriptors; replaced in tests. */
interface Descriptors {
  readonly limit: () => number
  readonly open: () => number
}

/** Without file names: `/v1/health` has the whole reason. */
function storeProblem(error: unknown): string {
  const state = ToolError.is(error) ? error.details?.store : undefined
  if (state === 'older') return 'The store is older than it was: see tool-hub store check.'
  if (state === 'replaced') return 'The store was removed or replaced while it is in use.'
  return 'The store cannot be used.'
}
