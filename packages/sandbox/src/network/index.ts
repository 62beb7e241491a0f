/** Guarded access to the network: hosts and addresses are checked before every connection. */

export { type HostPatterns, judgeUrl, matchHost, parseHosts, parseRanges } from './judge-destination.ts'
export {
  createNetworkGuard,
  loadDialHost,
  loadWebFetch,
  type NetworkGuard,
  type NetworkGuardOptions,
} from './network-guard.ts'
export type { OpenedProxy, ProxySettings } from './proxy/open-proxy.ts'
export { createResponseCache, type ResponseCache } from './response-cache.ts'
export { openWebCallback } from './web-callback.ts'
export type { WebFetchGuard } from './web-fetch.ts'
