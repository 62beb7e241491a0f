import { type FeatureCall, type FeatureHost, lazyModule, ToolError } from '@tool-hub/core'
import { RunBrowser } from './run-browser.ts'
import type { Chromium } from './start/start-chromium.ts'
import type { BrowserOptions, BrowserSettings, BrowserStatus } from './types.ts'

const DEFAULTS = {
  headless: true,
  idleMs: 300_000,
  timeoutMs: 30_000,
  tabs: 8,
  trafficBytes: 200_000_000,
  downloadBytes: 50_000_000,
  pageMemoryBytes: 512_000_000,
}

/** Fills in the defaults. */
export function browserSettings(options: BrowserOptions): BrowserSettings {
  if (options.sandbox === 'jail') {
    process.emitWarning("The browser option sandbox: 'jail' is called 'command' now.", 'DeprecationWarning')
  }
  return { ...DEFAULTS, ...options }
}

const loadStartChromium = lazyModule(() => import('./start/start-chromium.ts'))

/** Maximum number of open profiles; the least recently used one is closed to make room. */
const MAX_RUNS = 16

/** The one browser of a hub: started on first use, closed when idle, restarted after a crash. */
export class BrowserPool {
  readonly #settings: BrowserSettings
  readonly #host: FeatureHost
  readonly #runs = new Map<string, Promise<RunBrowser>>()
  #starting: Promise<Chromium> | undefined
  #running: Chromium | undefined
  #closing: Promise<unknown> = Promise.resolve()
  #cancelRest = () => {}
  #busy = 0
  #isClosed = false

  constructor(settings: BrowserSettings, host: FeatureHost) {
    this.#settings = settings
    this.#host = host
  }

  status(run?: string): Promise<BrowserStatus> | BrowserStatus {
    const running = this.#running
    if (!running) return { isRunning: false, tabs: 0 }
    return this.#countTabs(run).then((tabs) => ({
      isRunning: true,
      version: running.browser.version(),
      sandbox: running.sandbox,
      executable: running.executable,
      pid: running.pid,
      tabs,
    }))
  }

  /** Whether a run has a profile in the browser. Check it before `use` so that a query does not start a browser. */
  has(run: string): boolean {
    return this.#runs.has(run)
  }

  /** Runs `work` with the browser, starting it if needed; the idle timer starts when the last work has finished. */
  async use<T>(work: (chromium: Chromium) => Promise<T>): Promise<T> {
    this.#busy += 1
    this.#cancelRest()
    try {
      return await work(await this.#chromium())
    } finally {
      this.#busy -= 1
      this.#rest()
    }
  }

  /** The profile of a run, created on first use. */
  async runOf(chromium: Chromium, call: FeatureCall): Promise<RunBrowser> {
    const opened = this.#runs.get(call.run)
    const known = opened && (await opened)
    if (known?.chromium === chromium) {
      known.usedAt = this.#host.clock.now()
      known.network.judgeAs(call)
      return known
    }
    // Another call may have opened the profile in the meantime.
    const begun = this.#runs.get(call.run)
    if (begun !== undefined && begun !== opened) return this.runOf(chromium, call)
    const opening = this.#makeRoom(call.run).then(() =>
      RunBrowser.open(chromium, { settings: this.#settings, host: this.#host, call }),
    )
    this.#runs.set(call.run, opening)
    // If opening failed, the next call tries again.
    opening.catch(() => this.#runs.delete(call.run))
    const run = await opening
    run.usedAt = this.#host.clock.now()
    return run
  }

  /** Closes the profile of a run and deletes its data. */
  async endRun(run: string): Promise<void> {
    const opened = this.#runs.get(run)
    this.#runs.delete(run)
    await (await opened?.catch(() => undefined))?.close()
  }

  /** Refuses new work. */
  calm(): void {
    this.#isClosed = true
  }

  /** Closes the browser; the next use starts a new one. */
  async close(): Promise<void> {
    this.#cancelRest()
    const chromium = this.#running ?? (await this.#starting?.catch(() => undefined))
    // A call that arrives while it closes gets a new browser.
    this.#starting = this.#running = undefined
    const ended = Promise.all([...this.#runs.keys()].map((run) => this.endRun(run)))
    this.#closing = Promise.all([this.#closing, ended.then(() => chromium?.close())])
    await this.#closing
  }

  async #chromium(): Promise<Chromium> {
    if (this.#isClosed) throw new ToolError('ABORTED', 'The hub is closed.')
    const dead = this.#running
    if (dead && !dead.browser.isConnected()) {
      await dead.close()
      this.#forget(dead)
    }
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start(): Promise<Chromium> {
    try {
      // Loaded on first use: most hubs never start a browser.
      const { startChromium } = await loadStartChromium()
      const chromium = await startChromium(this.#settings, this.#host.clock)
      this.#running = chromium
      void chromium.ended.then(() => this.#forget(chromium))
      return chromium
    } catch (error) {
      this.#starting = undefined
      throw error
    }
  }

  #forget(chromium: Chromium): void {
    if (this.#running !== chromium) return
    this.#running = undefined
    this.#starting = undefined
    for (const run of [...this.#runs.keys()]) void this.endRun(run)
  }

  #rest(): void {
    if (this.#busy > 0) return
    this.#cancelRest()
    this.#cancelRest = this.#host.clock.after(this.#settings.idleMs, () => void this.close(), { background: true })
  }

  async #makeRoom(newcomer: string): Promise<void> {
    const others = [...this.#runs].filter(([id]) => id !== newcomer)
    if (others.length < MAX_RUNS) return
    const runs = await Promise.all(
      others.map(async ([id, opened]) => ({ id, usedAt: (await opened.catch(() => undefined))?.usedAt ?? 0 })),
    )
    const oldest = runs.toSorted((a, b) => a.usedAt - b.usedAt)[0]
    if (oldest) await this.endRun(oldest.id)
  }

  async #countTabs(run: string | undefined): Promise<number> {
    const wanted = [...this.#runs].filter(([id]) => run === undefined || id === run)
    const opened = await Promise.all(wanted.map(([, run]) => run.catch(() => undefined)))
    return opened.reduce((sum, each) => sum + (each?.tabCount ?? 0), 0)
  }
}
