import { z } from 'zod'
import { ToolError } from '../../core/index.ts'
import type { RawHit, SearchProvider, SearchQuery, WebSearchRequest } from './search-provider.ts'

const tavilyAnswer = z.object({ results: z.array(z.unknown()).max(1_000) })
const tavilyHit = z.object({
  title: z.string().nullish(),
  url: z.string(),
  content: z.string().nullish(),
  published_date: z.string().nullish(),
})

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
  parse: (json) =>
    readHits(tavilyAnswer.parse(json).results, tavilyHit).map(({ title, url, content, published_date }) => ({
      title: title ?? '',
      url,
      snippet: content ?? '',
      ...(published_date ? { published: published_date } : {}),
    })),
}

const braveAnswer = z.object({ web: z.object({ results: z.array(z.unknown()).max(1_000) }).nullish() })
const braveHit = z.object({
  title: z.string().nullish(),
  url: z.string(),
  description: z.string().nullish(),
  page_age: z.string().nullish(),
  age: z.string().nullish(),
})

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
    readHits(braveAnswer.parse(json).web?.results ?? [], braveHit).map(
      ({ title, url, description, page_age, age }) => ({
        title: title ?? '',
        url,
        snippet: description ?? '',
        ...(page_age || age ? { published: page_age || age || '' } : {}),
      }),
    ),
}

const searxngAnswer = z.object({ results: z.array(z.unknown()).max(1_000) })

const searxngHit = z.object({
  title: z.string().nullish(),
  url: z.string(),
  content: z.string().nullish(),
  publishedDate: z.string().nullish(),
})

/** SearXNG: self-hosted, without a key; its settings must allow the format json. */
const searxng: SearchProvider = {
  name: 'searxng',
  request: (query, { url }) => {
    const parameters = new URLSearchParams({ q: withSites(query), format: 'json' })
    if (query.freshness) parameters.set('time_range', query.freshness)
    if (query.language) parameters.set('language', query.language)
    return { url: `${url}/search?${parameters}`, method: 'GET', headers: { accept: 'application/json' } }
  },
  parse: (json) =>
    readHits(searxngAnswer.parse(json).results, searxngHit).map(({ title, url, content, publishedDate }) => ({
      title: title ?? '',
      url,
      snippet: content ?? '',
      ...(publishedDate ? { published: publishedDate } : {}),
    })),
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
    throw new ToolError('CONFIG_INVALID', `There is no search provider ${JSON.stringify(named)}.`, {
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

/** The valid hits of a list; invalid ones do not hide the others. */
export function readHits<T>(list: readonly unknown[], hit: z.ZodType<T>): T[] {
  return list.flatMap((entry) => {
    const { success, data } = hit.safeParse(entry)
    return success ? [data] : []
  })
}

/** The query with its domains as search operators, for services without a field for them. */
export function withSites({ query, includeDomains = [], excludeDomains = [] }: SearchQuery): string {
  const wanted = includeDomains.map((domain) => `site:${domain}`).join(' OR ')
  const unwanted = excludeDomains.map((domain) => `-site:${domain}`)
  return [query, includeDomains.length > 1 ? `(${wanted})` : wanted, ...unwanted]
    .filter((part) => part !== '')
    .join(' ')
}
