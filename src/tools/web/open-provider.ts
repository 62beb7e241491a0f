import { z } from 'zod'
import { ToolError } from '../../core/index.ts'
import { brave } from './providers/brave.ts'
import { readHits } from './providers/read-hits.ts'
import { tavily } from './providers/tavily.ts'
import { withSites } from './providers/with-sites.ts'
import type { RawHit, SearchProvider, SearchQuery, WebSearchRequest } from './search-provider.ts'

const answer = z.object({ results: z.array(z.unknown()).max(1_000) })

const hit = z.object({
  title: z.string().nullish(),
  url: z.string(),
  content: z.string().nullish(),
  publishedDate: z.string().nullish(),
})

/** SearXNG: a service that people run themselves, without a key; its settings must allow the format json. */
const searxng: SearchProvider = {
  name: 'searxng',
  request: (query, { url }) => {
    const parameters = new URLSearchParams({ q: withSites(query), format: 'json' })
    if (query.freshness) parameters.set('time_range', query.freshness)
    if (query.language) parameters.set('language', query.language)
    return { url: `${url}/search?${parameters}`, method: 'GET', headers: { accept: 'application/json' } }
  },
  parse: (json) =>
    readHits(answer.parse(json).results, hit).map(({ title, url, content, publishedDate }) => ({
      title: title ?? '',
      url,
      snippet: content ?? '',
      ...(publishedDate ? { published: publishedDate } : {}),
    })),
}

/** How to search: a service that is built in, or one of your own. */
export interface WebSearchConfig {
  /** One that is built in, by name, or your own. */
  readonly provider: 'tavily' | 'brave' | 'searxng' | SearchProvider
  /** Where the service answers. Default: its public address. SearXNG has none. */
  readonly url?: string
  /** Name of the secret with its key. Default: the provider's own name. */
  readonly secret?: string
}

/** A provider that knows where it answers and what its key is called. */
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

/** Opens the provider of a configuration; CONFIG_INVALID when there is none of the name, or no address. */
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
