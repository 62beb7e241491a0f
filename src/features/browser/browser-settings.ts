import type { BrowserOptions } from './types.ts'

/** What an owner says about the browser, and what holds where nothing is said. */
export interface BrowserSettings extends BrowserOptions {
  readonly headless: boolean
  readonly idleMs: number
  readonly timeoutMs: number
  readonly tabs: number
  readonly trafficBytes: number
  readonly downloadBytes: number
  readonly pageMemoryBytes: number
}

const DEFAULTS = {
  headless: true,
  idleMs: 300_000,
  timeoutMs: 30_000,
  tabs: 8,
  trafficBytes: 200_000_000,
  downloadBytes: 50_000_000,
  pageMemoryBytes: 512_000_000,
}

/** Puts the defaults where an owner says nothing. */
export function browserSettings(options: BrowserOptions): BrowserSettings {
  return { ...DEFAULTS, ...options }
}
