import { ToolError } from '../../core/index.ts'
import type { OpenProvider } from './open-provider.ts'

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

const PREVIEW_CHARS = 200

/** What a call says as long as the owner has chosen no provider. */
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

/** A key that nobody set, told so that the owner can; anything else as it is. */
export function explainMissingKey(error: unknown, { name, secret, keyVariable }: OpenProvider): unknown {
  const isMissing = ToolError.is(error) && error.code === 'NOT_FOUND' && error.fix.key === `secrets.${secret}`
  if (!isMissing) return error
  return new ToolError('CONFIG_INVALID', `The search provider ${name} needs a key, and there is no secret ${secret}.`, {
    fix: {
      key: `secrets.${secret}`,
      hint: `Have the owner put the key into ${keyVariable} and name it under secrets.${secret} in tool-hub.yaml.`,
    },
    cause: error,
  })
}

/** The failure that an HTTP status stands for. */
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

/** An answer that is no list of hits. */
export function unreadableAnswer({ name }: OpenProvider, cause: unknown): ToolError {
  return new ToolError(
    'UPSTREAM_ERROR',
    `The search provider ${name} answered with something that is no search result.`,
    {
      hint: 'Have the owner check web.search.url in tool-hub.yaml.',
      retryable: false,
      cause,
    },
  )
}
