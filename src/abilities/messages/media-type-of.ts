const TYPES: ReadonlyMap<string, string> = new Map([
  ['txt', 'text/plain; charset=utf-8'],
  ['log', 'text/plain; charset=utf-8'],
  ['md', 'text/markdown; charset=utf-8'],
  ['csv', 'text/csv; charset=utf-8'],
  ['json', 'application/json'],
  ['html', 'text/html; charset=utf-8'],
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
  ['zip', 'application/zip'],
])

/** What a file is by its name; bytes when the name does not tell. */
export function mediaTypeOf(name: string): string {
  return TYPES.get(/\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? '') ?? 'application/octet-stream'
}
