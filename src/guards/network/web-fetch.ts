import { ToolError } from '../../errors.ts'
import type { WebFetch, WebFetchOptions } from '../../source.ts'
import type { NetworkGuardOptions } from './network-guard.ts'

/** What the owner says about the network, as far as a service needs it. */
export type WebFetchGuard = Pick<
  NetworkGuardOptions,
  'privateRanges' | 'blockedRanges' | 'userAgent' | 'resolve' | 'clock' | 'dial'
>

/** A `fetch` that holds connections until it is closed. */
export type OpenWebFetch = WebFetch & { close(): Promise<void> }

/** The standard `fetch` for one service: every hop is judged, and the address that was judged is the one that is dialled. */
export function createWebFetch(_options: WebFetchOptions, _guard: WebFetchGuard): OpenWebFetch {
  throw new ToolError('INTERNAL', 'not there yet')
}
