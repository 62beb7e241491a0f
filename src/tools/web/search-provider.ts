/** What somebody searches for. */
export interface SearchQuery {
  /** The words to search for. */
  readonly query: string
  /** Most hits, 1 to 20. */
  readonly count: number
  /** Only pages that are not older. Default: any age. */
  readonly freshness?: 'day' | 'week' | 'month' | 'year'
  /** Only pages of these hosts. Default: all. */
  readonly includeDomains?: readonly string[]
  /** No pages of these hosts. Default: none. */
  readonly excludeDomains?: readonly string[]
  /** Language of the pages, such as `en`. Default: any. */
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
export interface WebSearchRequest {
  /** Where to send it; on the host of the place. */
  readonly url: string
  /** `POST` also needs the capability `send`. */
  readonly method: 'GET' | 'POST'
  /** Headers; the key stands in one of them as `place.key`. */
  readonly headers: Readonly<Record<string, string>>
  /** What is sent. Default: nothing. */
  readonly body?: string
}

/** One hit as the service wrote it; cleaned and bounded by the tool. */
export interface RawHit {
  /** As the service writes it; the hub cleans it. */
  readonly title: string
  /** Address of the page; a hit without a usable one is left out. */
  readonly url: string
  /** What the service shows of the page; may hold HTML. */
  readonly snippet: string
  /** When it was published, in any form. */
  readonly published?: string
}

/** A search service: which request to send, and what its answer says. It sends nothing itself. */
export interface SearchProvider {
  /** Names it in results, and its secret unless the owner names another. */
  readonly name: string
  /** Where it answers unless the owner says otherwise; none for services that everybody runs alone. */
  readonly url?: string
  /** Where its key usually is: `TAVILY_API_KEY`; none for services without keys. */
  readonly keyVariable?: string
  /** What it cannot do; the caller is notified. */
  readonly ignores?: readonly (keyof SearchQuery)[]
  /** The request for a query; it is sent through the network guard. */
  request(query: SearchQuery, place: SearchPlace): WebSearchRequest
  /** Throws when the answer has another form. */
  parse(answer: unknown): readonly RawHit[]
}
