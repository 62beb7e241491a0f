import type { RawHit } from './search-provider.ts'

/** One hit as it is returned. */
export interface SearchHit {
  /** Title of the page, one line. */
  readonly title: string
  /** `http:` or `https:` address of the page. */
  readonly url: string
  /** What the service shows of the page, as plain text. */
  readonly snippet: string
  /** When it was published, where the service says so. */
  readonly published?: string
}

const MAX_URL_CHARS = 2_000
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['#39', "'"],
  ['#x27', "'"],
  ['nbsp', ' '],
])

/** A hit with plain, bounded texts; none for one whose address is no web address. */
export function cleanHit({ title, url, snippet, published }: RawHit): SearchHit | undefined {
  const address = webAddress(url)
  if (!address) return undefined
  const date = published === undefined ? '' : plain(published, 100)
  return {
    title: plain(title, 300),
    url: address,
    snippet: plain(snippet, 2_000),
    ...(date ? { published: date } : {}),
  }
}

function webAddress(url: string): string | undefined {
  if (url.length > MAX_URL_CHARS || !URL.canParse(url)) return undefined
  const { protocol, href } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}

/** Without tags (services mark the words that were found), entities, invisible characters and line breaks. */
function plain(text: string, maxChars: number): string {
  const words = text
    .slice(0, 4 * maxChars)
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, '')
    .replace(/&(#?\w{1,8});/g, (entity, name: string) => ENTITIES.get(name.toLowerCase()) ?? entity)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/\p{Cf}|\p{Cs}/gu, '')
    .trim()
  return words.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '')
}
