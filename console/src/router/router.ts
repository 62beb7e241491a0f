import { useCallback, useMemo } from 'react'
import { createValue, useValue } from '../state/create-value.ts'

const place = createValue(read())
window.addEventListener('popstate', () => place.set(read()))

/** Goes to a path of the console, such as `/runs/abc?status=failed`. */
export function navigate(path: string, { replace = false }: { replace?: boolean } = {}): void {
  if (path === place.get()) return
  if (replace) window.history.replaceState(null, '', path)
  else window.history.pushState(null, '', path)
  place.set(read())
}

/** The path that is shown, without its query. */
export function usePath(): string {
  return useValue(place).split('?')[0] ?? '/'
}

/** One value of the query as state: filters live in the address, so that a view can be sent to a colleague. */
export function useSearchParam(name: string, fallback = ''): [string, (value: string) => void] {
  const query = useValue(place).split('?')[1] ?? ''
  const value = useMemo(() => new URLSearchParams(query).get(name) ?? fallback, [query, name, fallback])
  const set = useCallback(
    (next: string) => {
      const [path = '/', now = ''] = place.get().split('?')
      const params = new URLSearchParams(now)
      if (next === fallback) params.delete(name)
      else params.set(name, next)
      navigate(params.size > 0 ? `${path}?${params}` : path, { replace: true })
    },
    [name, fallback],
  )
  return [value, set]
}

/** The names in a pattern (`/runs/:run`) by the path's parts; undefined where it does not fit. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.replace(/\/$/, '').split('/')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const value = decode(given[index] ?? '')
    if (value === undefined) return undefined
    if (part.startsWith(':')) params[part.slice(1)] = value
    else if (part !== value) return undefined
  }
  return params
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    // Not written by us: no page has such an address.
    return undefined
  }
}

function read(): string {
  return `${window.location.pathname}${window.location.search}`
}
