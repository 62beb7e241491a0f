import {
  type BrowserService,
  CAPABILITY_OF_FEATURE,
  type CanvasService,
  type Capability,
  FEATURES,
  type Feature,
  type FeatureCall,
  type FeatureHost,
  type FeatureName,
  type HubOptions,
  lazyModule,
  type MemoryService,
  type MessageService,
  type ScheduleService,
  type SessionService,
  ToolError,
} from '../core/index.ts'
import type { FeatureRegistry } from './pipeline/parts.ts'

const loadCreateMemory = lazyModule(() => import('../features/memory/index.ts'))
const loadCreateSessions = lazyModule(() => import('../features/sessions/index.ts'))
const loadCreateMessages = lazyModule(() => import('../features/messages/index.ts'))
const loadCreateSchedules = lazyModule(() => import('../features/schedules/index.ts'))
const loadCreateBrowser = lazyModule(() => import('../features/browser/index.ts'))
const loadCreateCanvas = lazyModule(() => import('../features/canvas/index.ts'))

/** What the owner of a hub uses of its abilities; each method loads its ability first. */
export interface FeatureServices {
  /** Notes of agents: search, review, import and export; loaded when it is first used. */
  readonly memory: MemoryService
  /** Sessions of agents: list, history, messages, begin and end; loaded when it is first used. */
  readonly sessions: SessionService
  /** Messages to people: channels and inbox; loaded when it is first used. */
  readonly messages: MessageService
  /** Calls that are made later; nothing is fired before `start()`. */
  readonly schedules: ScheduleService
  /** The browser of agents: status and rendering; started when it is first used. */
  readonly browser: BrowserService
  /** What agents show to people; loaded when it is first used. */
  readonly canvas: CanvasService
}

type Make = (options: HubOptions, host: FeatureHost) => Promise<Feature>

const MAKERS: Readonly<Record<FeatureName, Make>> = {
  memory: async ({ memory = {} }, host) => (await loadCreateMemory()).createMemory(memory, host),
  sessions: async ({ sessions = {} }, host) => (await loadCreateSessions()).createSessions(sessions, host),
  messages: async ({ messages = {} }, host) => (await loadCreateMessages()).createMessages(messages, host),
  schedules: async ({ schedules = {} }, host) => (await loadCreateSchedules()).createSchedules(schedules, host),
  browser: async ({ browser = {} }, host) => (await loadCreateBrowser()).createBrowser(browser, host),
  canvas: async ({ canvas = {} }, host) => (await loadCreateCanvas()).createCanvas(canvas, host),
}

/** The abilities of one hub. A hub whose tools use none loads none. */
export class Features implements FeatureRegistry {
  readonly desks: FeatureServices
  readonly #options: HubOptions
  readonly #hostOf: () => FeatureHost
  readonly #making = new Map<FeatureName, Promise<Feature>>()
  readonly #made = new Map<FeatureName, Feature>()
  #isClosed = false

  constructor(options: HubOptions, hostOf: () => FeatureHost) {
    this.#options = options
    this.#hostOf = hostOf
    this.desks = Object.fromEntries(FEATURES.map((name) => [name, this.#deskOf(name)])) as unknown as FeatureServices
  }

  prepare(capabilities: ReadonlySet<Capability>): Promise<void> | undefined {
    const missing = FEATURES.filter((name) => capabilities.has(CAPABILITY_OF_FEATURE[name]) && !this.#made.has(name))
    if (missing.length === 0) return undefined
    return Promise.all(missing.map((name) => this.#make(name))).then(() => {})
  }

  handle(name: FeatureName, call: FeatureCall): unknown {
    return this.#made.get(name)!.handle(call)
  }

  async endRun(run: string): Promise<void> {
    await Promise.all([...this.#made.values()].map((ability) => ability.endRun?.(run)))
  }

  /** Nothing new begins. */
  calm(): void {
    for (const ability of this.#made.values()) ability.calm?.()
  }

  /** Everything is closed, also when something before it fails; the first failure is told. */
  async close(): Promise<void> {
    this.#isClosed = true
    const made = await Promise.allSettled(this.#making.values())
    const closing = made.map(async (outcome) => outcome.status === 'fulfilled' && outcome.value.close())
    for (const outcome of await Promise.allSettled(closing)) if (outcome.status === 'rejected') throw outcome.reason
  }

  #make(name: FeatureName): Promise<Feature> {
    if (this.#isClosed) return Promise.reject(new ToolError('ABORTED', 'The hub is closed.'))
    const known = this.#making.get(name)
    if (known) return known
    const making = MAKERS[name](this.#options, this.#hostOf())
    this.#making.set(name, making)
    making.then(
      (ability) => this.#made.set(name, ability),
      // The next call tries again: what failed may be there by then.
      () => this.#making.delete(name),
    )
    return making
  }

  /** Every method waits for the ability; so all of them give promises. */
  #deskOf(name: FeatureName): object {
    return new Proxy(Object.freeze({}), {
      // A promise is looked for by `then`, which no desk has.
      get: (_, method) => (typeof method === 'string' && method !== 'then' ? this.#method(name, method) : undefined),
    })
  }

  #method(name: FeatureName, method: string) {
    return async (...args: unknown[]) => {
      const desk = (await this.#make(name)).desk as Record<string, (...args: unknown[]) => unknown>
      if (!Object.hasOwn(desk, method)) throw new TypeError(`hub.${name}.${method} is not a function`)
      return desk[method]!(...args)
    }
  }
}
