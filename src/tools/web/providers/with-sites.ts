import type { SearchQuery } from '../search-provider.ts'

/** The query with its domains as search operators, for services that have no field for them. */
export function withSites({ query, includeDomains = [], excludeDomains = [] }: SearchQuery): string {
  const wanted = includeDomains.map((domain) => `site:${domain}`).join(' OR ')
  const unwanted = excludeDomains.map((domain) => `-site:${domain}`)
  return [query, includeDomains.length > 1 ? `(${wanted})` : wanted, ...unwanted]
    .filter((part) => part !== '')
    .join(' ')
}
