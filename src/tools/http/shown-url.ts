/** A URL for evidence: without its query, where keys and tokens travel. */
export function shownUrl(url: string): string {
  const end = url.search(/[?#]/)
  return end === -1 ? url : `${url.slice(0, end)}?…`
}
