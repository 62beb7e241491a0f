import {
  ABILITIES,
  type Ability,
  type AbilityCall,
  type AbilityHost,
  type AbilityName,
  CAPABILITY_OF_ABILITY,
} from '../contracts/ability.ts'
import type { BrowserDesk } from '../contracts/browser.ts'
import type { CanvasDesk } from '../contracts/canvas.ts'
import type { MemoryDesk } from '../contracts/memory.ts'
import type { MessageDesk } from '../contracts/messages.ts'
import type { ScheduleDesk } from '../contracts/schedules.ts'
import type { SessionDesk } from '../contracts/sessions.ts'
import type { Capability } from '../define.ts'
import { lazyModule } from '../disk/lazy-module.ts'
import { ToolError } from '../errors.ts'
import type { HubOptions } from '../options.ts'
import type { AbilityShelf } from '../steps/parts.ts'

const loadCreateMemory = lazyModule(() => import('../abilities/memory/create-memory.ts'))
const loadCreateSessions = lazyModule(() => import('../abilities/sessions/create-sessions.ts'))
const loadCreateMessages = lazyModule(() => import('../abilities/messages/create-messages.ts'))
const loadCreateSchedules = lazyModule(() => import('../abilities/schedules/create-schedules.ts'))
const loadCreateBrowser = lazyModule(() => import('../guards/browser/create-browser.ts'))
const loadCreateCanvas = lazyModule(() => import('../abilities/canvas/create-canvas.ts'))

/** What the owner of a hub uses of its abilities; each method loads its ability first. */
export interface Desks {
  /** Notes of agents: search, review, import and export; loaded when it is first used. */
  readonly memory: MemoryDesk
  /** Sessions of agents: list, history, messages, begin and end; loaded when it is first used. */
  readonly sessions: SessionDesk
  /** Messages to people: channels and inbox; loaded when it is first used. */
  readonly messages: MessageDesk
  /** Calls that are made later; nothing is fired before `start()`. */
  readonly schedules: ScheduleDesk
  /** The browser of agents: status and rendering; started when it is first used. */
  readonly browser: BrowserDesk
  /** What agents show to people; loaded when it is first used. */
  readonly canvas: CanvasDesk
}

type Make = (options: HubOptions, host: AbilityHost) => Promise<Ability>

const MAKERS: Readonly<Record<AbilityName, Make>> = {
  memory: async ({ memory = {} }, host) => (await loadCreateMemory()).createMemory(memory, host),
  sessions: async ({ sessions = {} }, host) => (await loadCreateSessions()).createSessions(sessions, host),
  messages: async ({ messages = {} }, host) => (await loadCreateMessages()).createMessages(messages, host),
  schedules: async ({ schedules = {} }, host) => (await loadCreateSchedules()).createSchedules(schedules, host),
  browser: async ({ browser = {} }, host) => (await loadCreateBrowser()).createBrowser(browser, host),
  canvas: async ({ canvas = {} }, host) => (await loadCreateCanvas()).createCanvas(canvas, host),
}

/** The abilities of one hub. A hub whose tools use none loads none. */
export class Abilities implements AbilityShelf {
  readonly desks: Desks
  readonly #options: HubOptions
  readonly #hostOf: () => AbilityHost
  readonly #making = new Map<AbilityName, Promise<Ability>>()
  readonly #made = new Map<AbilityName, Ability>()
  #isClosed = false

  constructor(options: HubOptions, hostOf: () => AbilityHost) {
    this.#options = options
    this.#hostOf = hostOf
    this.desks = Object.fromEntries(ABILITIES.map((name) => [name, this.#deskOf(name)])) as unknown as Desks
  }

  prepare(capabilities: ReadonlySet<Capability>): Promise<void> | undefined {
    const missing = ABILITIES.filter((name) => capabilities.has(CAPABILITY_OF_ABILITY[name]) && !this.#made.has(name))
    if (missing.length === 0) return undefined
    return Promise.all(missing.map((name) => this.#make(name))).then(() => {})
  }

  handle(name: AbilityName, call: AbilityCall): unknown {
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

  #make(name: AbilityName): Promise<Ability> {
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
  #deskOf(name: AbilityName): object {
    return new Proxy(Object.freeze({}), {
      // A promise is looked for by `then`, which no desk has.
      get: (_, method) => (typeof method === 'string' && method !== 'then' ? this.#method(name, method) : undefined),
    })
  }

  #method(name: AbilityName, method: string) {
    return async (...args: unknown[]) => {
      const desk = (await this.#make(name)).desk as Record<string, (...args: unknown[]) => unknown>
      if (!Object.hasOwn(desk, method)) throw new TypeError(`hub.${name}.${method} is not a function`)
      return desk[method]!(...args)
    }
  }
}
