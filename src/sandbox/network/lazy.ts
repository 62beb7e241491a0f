import { lazyModule } from '../../core/index.ts'

/** `fetch` under the network guard; loaded when it is first used. */
export const loadWebFetch = lazyModule(() => import('./web-fetch.ts'))

/** Connections for protocols other than HTTP; loaded when the first one is opened. */
export const loadDialHost = lazyModule(() => import('./dial-host.ts'))
