import { z } from 'zod'
import type { SearchProvider } from '../search-provider.ts'
import { readHits } from './read-hits.ts'
import { withSites } from './with-sites.ts'

const answer = z.object({ results: z.array(z.unknown()).max(1_000) })
const hit = z.object({
  title: z.string().nullish(),
  url: z.string(),
  content: z.string().nullish(),
  publishedDate: z.string().nullish(),
})

/** SearXNG: a service that people run themselves, without a key; its settings must allow the format json. */
export const searxng: SearchProvider = {
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
