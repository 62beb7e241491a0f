/** How much one proxy may be used. */
export interface ProxyLimits {
  /** Over all connections and both directions together. */
  readonly maxBytes: number
  /** At once; one more is closed at once. */
  readonly maxConnections: number
  /** How long a connection may carry nothing. */
  readonly idleMs: number
  /** For each step of opening a connection: its request, name and connection, its first words. */
  readonly openMs: number
}

/** What a proxy may be used for when nobody says: enough for `git clone` and `npm ci` of large projects. */
export const PROXY_LIMITS: ProxyLimits = {
  maxBytes: 2 ** 31,
  maxConnections: 128,
  idleMs: 120_000,
  openMs: 15_000,
}
