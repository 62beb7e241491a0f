/** What somebody searches for. */
export interface SearchQuery {
  readonly query: string
  readonly count: number
  readonly freshness?: 'day' | 'week' | 'month' | 'year'
  readonly includeDomains?: readonly string[]
  readonly excludeDomains?: readonly string[]
  readonly language?: string
}

/** Where a service answers, and the name of its key. */
export interface SearchPlace {
  /** Without a slash at its end. */
  readonly url: string
  /** Stands for the key in a header, `${secret:tavily}`; the network guard fills it in. */
  readonly key: string
}

/** A request as the service wants it. */
export interface SearchRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** One hit as the service wrote it; cleaned and bounded by the tool. */
export interface RawHit {
  readonly title: string
  readonly url: string
  readonly snippet: string
  readonly published?: string
}

/** A search service: which request to send, and what its answer says. It sends nothing itself. */
export interface SearchProvider {
  readonly name: string
  /** Where it answers unless the owner says otherwise; none for services that everybody runs alone. */
  readonly url?: string
  /** Where its key usually is: `TAVILY_API_KEY`; none for services without keys. */
  readonly keyVariable?: string
  /** What it cannot do; the caller is told. */
  readonly ignores?: readonly (keyof SearchQuery)[]
  request(query: SearchQuery, place: SearchPlace): SearchRequest
  /** Throws when the answer has another form. */
  parse(answer: unknown): readonly RawHit[]
}
