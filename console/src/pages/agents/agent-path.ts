/** Where a session is shown; the filters of the list stay. */
export function agentPath(id: string | undefined): string {
  const params = new URLSearchParams(window.location.search)
  const kept = new URLSearchParams({ view: 'sessions' })
  for (const name of ['of', 'state']) if (params.get(name)) kept.set(name, params.get(name) ?? '')
  return `/agents${id === undefined ? '' : `/${encodeURIComponent(id)}`}?${kept}`
}
