/** Where the inbox shows a message; the filter stays. */
export function messagePath(id: string | undefined, show: string): string {
  const path = id === undefined ? '/inbox' : `/inbox/${encodeURIComponent(id)}`
  return show === '' ? path : `${path}?show=${show}`
}
