import { ToolError } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import type { RawHit, SearchProvider, SearchQuery, WebSearchRequest } from './search-provider.ts'

/** Tavily: a JSON body by POST, the key as a bearer token. */
const tavily: SearchProvider = {
  name: 'tavily',
  url: 'https://api.tavily.com',
  keyVariable: 'TAVILY_API_KEY',
  ignores: ['language'],
  request: ({ query, count, freshness, includeDomains, excludeDomains }, { url, key }) => ({
    url: `${url}/search`,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({
      query,
      max_results: count,
      search_depth: 'basic',
      time_range: freshness,
      include_domains: includeDomains,
      exclude_domains: excludeDomains,
    }),
  }),
  parse: (json) => readHits(valueAt(json, 'results'), { snippet: 'content', published: ['published_date'] }),
}

const BRAVE_FRESHNESS = { day: 'pd', week: 'pw', month: 'pm', year: 'py' } as const

/** Brave Search: everything in the URL, the key in a header of its own; without hits the answer has no `web`. */
const brave: SearchProvider = {
  name: 'brave',
  url: 'https://api.search.brave.com/res/v1',
  keyVariable: 'BRAVE_API_KEY',
  request: (query, { url, key }) => {
    const parameters = new URLSearchParams({ q: withSites(query), count: String(query.count) })
    if (query.freshness) parameters.set('freshness', BRAVE_FRESHNESS[query.freshness])
    if (query.language) parameters.set('search_lang', query.language.toLowerCase())
    return {
      url: `${url}/web/search?${parameters}`,
      method: 'GET',
      headers: { 'x-subscription-token': key, accept: 'application/json' },
    }
  },
  parse: (json) =>
    readHits(valueAt(valueAt(json, 'web') ?? { results: [] }, 'results'), {
      snippet: 'description',
      published: ['page_age', 'age'],
    }),
}

/** SearXNG: self-hosted, without a key; its settings must allow the format json. */
const searxng: SearchProvider = {
  name: 'searxng',
  request: (query, { url }) => {
    const parameters = new URLSearchParams({ q: withSites(query), format: 'json' })
    if (query.freshness) parameters.set('time_range', query.freshness)
    if (query.language) parameters.set('language', query.language)
    return { url: `${url}/search?${parameters}`, method: 'GET', headers: { accept: 'application/json' } }
  },
  parse: (json) => readHits(valueAt(json, 'results'), { snippet: 'content', published: ['publishedDate'] }),
}

/** The search service: a built-in one, or your own. */
export interface WebSearchConfig {
  /** The name of a built-in provider, or your own provider. */
  readonly provider: 'tavily' | 'brave' | 'searxng' | SearchProvider
  /** Base URL of the service. Default: its public one; SearXNG has none. */
  readonly url?: string
  /** Name of the secret with its key. Default: the provider's own name. */
  readonly secret?: string
}

/** A provider with its URL and the name of its key. */
export interface OpenProvider {
  readonly name: string
  readonly secret: string
  readonly keyVariable: string
  readonly ignores: readonly (keyof SearchQuery)[]
  request(query: SearchQuery): WebSearchRequest
  parse(answer: unknown): readonly RawHit[]
}

const BUILT_IN: ReadonlyMap<string, SearchProvider> = new Map(
  [brave, searxng, tavily].map((provider) => [provider.name, provider]),
)

/** Opens the configured provider. Throws CONFIG_INVALID if it does not exist or has no URL. */
export function openProvider({ provider: named, url: place, secret: secretName }: WebSearchConfig): OpenProvider {
  const provider = typeof named === 'string' ? BUILT_IN.get(named) : named
  if (!provider) {
    throw new ToolError('CONFIG_INVALID', `Unknown search provider ${JSON.stringify(named)}.`, {
      fix: { key: 'web.search.provider', hint: `Use one of ${[...BUILT_IN.keys()].join(', ')}.` },
    })
  }
  const { name, ignores = [], keyVariable = `${name.toUpperCase()}_API_KEY` } = provider
  const address = place ?? provider.url
  if (address === undefined || !URL.canParse(address)) {
    throw new ToolError('CONFIG_INVALID', `The search provider ${name} needs an address.`, {
      fix: {
        key: 'web.search.url',
        hint: `Set web.search.url to where ${name} answers, e.g. https://search.example.org.`,
      },
    })
  }
  const url = address.replace(/\/+$/, '')
  const secret = secretName ?? name
  return {
    name,
    secret,
    keyVariable,
    ignores,
    request: (query) => provider.request(query, { url, key: `\${secret:${secret}}` }),
    parse: (answer) => provider.parse(answer),
  }
}

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

const PREVIEW_CHARS = 200

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

/** The value of a key; throws if the answer is not an object. */
function valueAt(answer: unknown, key: string): unknown {
  if (!isPlainObject(answer)) throw new TypeError(`an object with ${key} was expected`)
  return answer[key]
}

const MAX_HITS = 1_000

/** Where a service puts the texts of a hit besides `title` and `url`. */
interface HitKeys {
  readonly snippet: string
  /** The first that is not empty counts. */
  readonly published: readonly string[]
}

/** The valid hits of a list; invalid ones do not hide the others. Throws if it is not a list. */
function readHits(list: unknown, keys: HitKeys): RawHit[] {
  if (!Array.isArray(list) || list.length > MAX_HITS) throw new TypeError(`at most ${MAX_HITS} hits were expected`)
  return list.flatMap((hit: unknown) => {
    if (!isPlainObject(hit) || typeof hit.url !== 'string') return []
    const texts = ['title', keys.snippet, ...keys.published].map((key) => hit[key] ?? '')
    if (!texts.every((text) => typeof text === 'string')) return []
    const [title = '', snippet = '', ...dates] = texts
    const published = dates.find((date) => date !== '')
    return { title, url: hit.url, snippet, ...(published && { published }) }
  })
}

/** The query with its domains as search operators, for services without a field for them. */
function withSites({ query, includeDomains = [], excludeDomains = [] }: SearchQuery): string {
  const wanted = includeDomains.map((domain) => `site:${domain}`).join(' OR ')
  const unwanted = excludeDomains.map((domain) => `-site:${domain}`)
  return [query, includeDomains.length > 1 ? `(${wanted})` : wanted, ...unwanted]
    .filter((part) => part !== '')
    .join(' ')
}
