/** A search query. */
export interface SearchQuery {
  /** The words to search for. */
  readonly query: string
  /** Maximum number of hits, 1 to 20. */
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

/** The URL of a service, and the placeholder of its key. */
export interface SearchService {
  /** Without a trailing slash. */
  readonly url: string
  /** Stands for the key in a header, `${secret:tavily}`; the network guard fills it in. */
  readonly key: string
}

/** A request to the service. */
export interface WebSearchRequest {
  /** The URL, on the host of the service. */
  readonly url: string
  /** `POST` also needs the capability `send`. */
  readonly method: 'GET' | 'POST'
  /** Headers; the key stands in one of them as `place.key`. */
  readonly headers: Readonly<Record<string, string>>
  /** The request body. Default: none. */
  readonly body?: string
}

/** One hit as the service returned it; the tool cleans and bounds it. */
export interface RawHit {
  /** As the service writes it; the hub cleans it. */
  readonly title: string
  /** URL of the page; a hit without a valid one is left out. */
  readonly url: string
  /** The excerpt of the page; may contain HTML. */
  readonly snippet: string
  /** When it was published, in any format. */
  readonly published?: string
}

/** A search service: builds requests and parses answers. It sends nothing itself. */
export interface SearchProvider {
  /** Its name in results, and the default name of its secret. */
  readonly name: string
  /** Default base URL; absent for services that are self-hosted. */
  readonly url?: string
  /** The usual environment variable of its key: `TAVILY_API_KEY`; absent for services without keys. */
  readonly keyVariable?: string
  /** Fields of a query that it ignores; the caller receives a notice. */
  readonly ignores?: readonly (keyof SearchQuery)[]
  /** The request for a query; it is sent through the network guard. */
  request(query: SearchQuery, place: SearchService): WebSearchRequest
  /** Parses an answer. Throws if it has another form. */
  parse(answer: unknown): readonly RawHit[]
}
