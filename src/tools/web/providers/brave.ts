import { z } from 'zod'
import type { SearchProvider } from '../search-provider.ts'
import { readHits } from './read-hits.ts'
import { withSites } from './with-sites.ts'

const answer = z.object({ web: z.object({ results: z.array(z.unknown()).max(1_000) }).nullish() })
const hit = z.object({
  title: z.string().nullish(),
  url: z.string(),
  description: z.string().nullish(),
  page_age: z.string().nullish(),
  age: z.string().nullish(),
})

const FRESHNESS = { day: 'pd', week: 'pw', month: 'pm', year: 'py' } as const

/** Brave Search: everything in the address, the key in a header of its own; no hits means no `web` at all. */
export const brave: SearchProvider = {
  name: 'brave',
  url: 'https://api.search.brave.com/res/v1',
  keyVariable: 'BRAVE_API_KEY',
  request: (query, { url, key }) => {
    const parameters = new URLSearchParams({ q: withSites(query), count: String(query.count) })
    if (query.freshness) parameters.set('freshness', FRESHNESS[query.freshness])
    if (query.language) parameters.set('search_lang', query.language.toLowerCase())
    return {
      url: `${url}/web/search?${parameters}`,
      method: 'GET',
      headers: { 'x-subscription-token': key, accept: 'application/json' },
    }
  },
  parse: (json) =>
    readHits(answer.parse(json).web?.results ?? [], hit).map(({ title, url, description, page_age, age }) => ({
      title: title ?? '',
      url,
      snippet: description ?? '',
      ...(page_age || age ? { published: page_age || age || '' } : {}),
    })),
}
