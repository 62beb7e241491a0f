import { ToolError } from '../../errors.ts'
import { brave } from './providers/brave.ts'
import { searxng } from './providers/searxng.ts'
import { tavily } from './providers/tavily.ts'
import type { RawHit, SearchProvider, SearchQuery, SearchRequest } from './search-provider.ts'

/** How to search: a service that is built in, or one of your own. */
export interface WebSearchConfig {
  /** One that is built in, by name, or your own. */
  readonly provider: 'tavily' | 'brave' | 'searxng' | SearchProvider
  /** Where the service answers; its public address unless said. SearXNG has none. */
  readonly url?: string
  /** Name of the secret with its key; the provider's own name unless said. */
  readonly secret?: string
}

/** A provider that knows where it answers and what its key is called. */
export interface OpenProvider {
  readonly name: string
  readonly secret: string
  readonly keyVariable: string
  readonly ignores: readonly (keyof SearchQuery)[]
  request(query: SearchQuery): SearchRequest
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
