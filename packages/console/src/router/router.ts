import { useCallback, useMemo } from 'react'
import { usePathname, useSearch, navigate as wouterNavigate } from 'wouter/use-browser-location'

/** Goes to a path of the console, such as `/runs/abc?status=failed`; does nothing if it is already shown. */
export function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  const { pathname, search } = window.location
  if (to !== `${pathname}${search}`) wouterNavigate(to, { replace })
}

/** The path that is shown, without its query. */
export function usePath(): string {
  return usePathname()
}

/** One parameter of the query as state: filters are part of the address, so that a view can be shared as a link. */
export function useSearchParam(name: string, fallback = ''): [string, (value: string) => void] {
  const search = useSearch()
  const value = useMemo(() => new URLSearchParams(search).get(name) ?? fallback, [search, name, fallback])
  const set = useCallback(
    (next: string) => {
      const { pathname, search: current } = window.location
      const params = new URLSearchParams(current)
      if (next === fallback) params.delete(name)
      else params.set(name, next)
      navigate(params.size > 0 ? `${pathname}?${params}` : pathname, { replace: true })
    },
    [name, fallback],
  )
  return [value, set]
}

/** The parameters of a path as they were before they were encoded; undefined if one is malformed. */
export function decodeParams(params: Readonly<Record<string, string | undefined>>): Record<string, string> | undefined {
  try {
    const given = Object.entries(params).filter(([, value]) => value !== undefined)
    return Object.fromEntries(given.map(([name, value]) => [name, decodeURIComponent(value ?? '')]))
  } catch {
    // The console makes no such address, so no page has it.
    return undefined
  }
}
