/** What is known of one question to the service. `data` stays while it is asked again or fails. */
export interface QueryState<T> {
  readonly data: T | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
}

/** One question, shared by all components that ask it. */
interface Query<T> {
  state: QueryState<T>
  load: () => Promise<T>
  running: Promise<void> | undefined
  /** Asked again while it ran: what comes may be older than what caused it. */
  isStale: boolean
  readonly listeners: Set<() => void>
}

const MAX_UNWATCHED = 50
const EMPTY: QueryState<never> = { data: undefined, error: undefined, isLoading: true }
const queries = new Map<string, Query<unknown>>()

/** The query of this key, made at first use. */
export function openQuery<T>(key: string, load: () => Promise<T>): Query<T> {
  const known = queries.get(key) as Query<T> | undefined
  if (known) return Object.assign(known, { load })
  const query: Query<T> = { state: EMPTY, load, running: undefined, isStale: false, listeners: new Set() }
  queries.set(key, query as Query<unknown>)
  dropUnwatched()
  return query
}

/** Asks (again); while it is under way, once more after it. */
export function refresh<T>(query: Query<T>): Promise<void> {
  if (query.running) {
    query.isStale = true
    return query.running
  }
  change(query, { ...query.state, isLoading: true })
  query.running = query
    .load()
    .then(
      (data) => change(query, { data, error: undefined, isLoading: false }),
      (error: Error) => change(query, { ...query.state, error, isLoading: false }),
    )
    .then(() => {
      query.running = undefined
      if (!query.isStale) return
      query.isStale = false
      return refresh(query)
    })
  return query.running
}

/** Asks again what is on the screen and has a key that begins so; forgets the rest of them. */
export function refreshQueries(prefix = ''): void {
  for (const [key, query] of queries) {
    if (!key.startsWith(prefix)) continue
    if (query.listeners.size > 0) void refresh(query)
    else queries.delete(key)
  }
}

/** Puts an answer in that came another way, such as with a change. */
export function setQuery<T>(key: string, data: T): void {
  const query = queries.get(key)
  if (query) change(query, { data, error: undefined, isLoading: false })
}

/** Forgets everything, for somebody else to sign in. */
export function forgetQueries(): void {
  queries.clear()
}

function change<T>(query: Query<T>, state: QueryState<T>): void {
  query.state = state
  for (const listener of [...query.listeners]) listener()
}

function dropUnwatched(): void {
  const unwatched = [...queries].filter(([, query]) => query.listeners.size === 0)
  for (const [key] of unwatched.slice(0, Math.max(0, unwatched.length - MAX_UNWATCHED))) queries.delete(key)
}
