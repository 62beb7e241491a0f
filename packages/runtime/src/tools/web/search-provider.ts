import { ToolError } from '@tool-hub/core'
import type { OpenProvider } from './open-provider.ts'

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

const PREVIEW_CHARS = 200

/** The error while no provider is configured. */
export function notConfigured(): ToolError {
  return new ToolError('CONFIG_INVALID', 'No search provider is set, so nothing can be searched.', {
    fix: {
      key: 'web.search.provider',
      value: 'tavily',
      hint:
        'Have the owner set web.search.provider in tool-hub.yaml to tavily (key in TAVILY_API_KEY), brave ' +
        '(BRAVE_API_KEY) or searxng (web.search.url, no key), the key under secrets, and its host in sandbox.network.',
    },
  })
}

/** Explains a missing key so that the owner can set it; returns any other error unchanged. */
export function explainMissingKey(error: unknown, { name, secret, keyVariable }: OpenProvider): unknown {
  const isMissing = ToolError.is(error) && error.code === 'NOT_FOUND' && error.fix.key === `secrets.${secret}`
  if (!isMissing) return error
  return new ToolError(
    'CONFIG_INVALID',
    `The search provider ${name} needs a key, and the secret ${secret} is missing.`,
    {
      fix: {
        key: `secrets.${secret}`,
        hint: `Have the owner put the key into ${keyVariable} and name it under secrets.${secret} in tool-hub.yaml.`,
      },
      cause: error,
    },
  )
}

/** The error for an HTTP status. */
export function refusedSearch(status: number, text: string, { name, secret, keyVariable }: OpenProvider): ToolError {
  const said = text
    .slice(0, PREVIEW_CHARS)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  const message = `The search provider ${name} answered with status ${status}${said ? `: ${said}` : '.'}`
  if (status === 401 || status === 403) {
    const hint =
      name === 'searxng'
        ? 'Have the owner allow the format json in the settings of SearXNG.'
        : `Have the owner check the key in ${keyVariable} (secrets.${secret} in tool-hub.yaml).`
    return new ToolError('CONFIG_INVALID', message, { hint, details: { status } })
  }
  if (status === 429) return new ToolError('RATE_LIMITED', message, { details: { status } })
  return new ToolError('UPSTREAM_ERROR', message, { retryable: status >= 500, details: { status } })
}

/** The error for an answer that is not a list of hits. */
export function unreadableAnswer({ name }: OpenProvider, cause: unknown): ToolError {
  return new ToolError(
    'UPSTREAM_ERROR',
    `The search provider ${name} answered with something that is not a search result.`,
    {
      hint: 'Have the owner check web.search.url in tool-hub.yaml.',
      retryable: false,
      cause,
    },
  )
}
