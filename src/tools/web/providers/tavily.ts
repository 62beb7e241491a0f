import { z } from 'zod'
import type { SearchProvider } from '../search-provider.ts'
import { readHits } from './read-hits.ts'

const answer = z.object({ results: z.array(z.unknown()).max(1_000) })
const hit = z.object({
  title: z.string().nullish(),
  url: z.string(),
  content: z.string().nullish(),
  published_date: z.string().nullish(),
})

/** Tavily: a JSON body by POST, the key as a bearer token. */
export const tavily: SearchProvider = {
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
    readHits(answer.parse(json).results, hit).map(({ title, url, content, published_date }) => ({
      title: title ?? '',
      url,
      snippet: content ?? '',
      ...(published_date ? { published: published_date } : {}),
    })),
}
