/** Guarded access to the network: hosts and addresses are checked before every connection. */
import { lazyModule } from '@tool-hub/core'

export { type HostPatterns, judgeUrl, matchHost, parseHosts, parseRanges } from './judge-destination.ts'
export {
  createNetworkGuard,
  type NetworkGuard,
  type NetworkGuardOptions,
} from './network-guard.ts'
export type { OpenedProxy, ProxySettings } from './proxy/open-proxy.ts'
export { createResponseCache, type ResponseCache } from './request/response-cache.ts'
export { openWebCallback } from './web-callback.ts'
export type { WebFetchGuard } from './web-fetch.ts'

/** `fetch` under the network guard; loaded when it is first used. */
export const loadWebFetch = lazyModule(() => import('./web-fetch.ts'))

/** Connections for protocols other than HTTP; loaded when the first one is opened. */
export const loadDialHost = lazyModule(() => import('./dial-host.ts'))
