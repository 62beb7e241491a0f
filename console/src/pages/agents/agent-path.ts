/** Where an agent is shown; the filter stays. */
export function agentPath(id: string | undefined, state = ''): string {
  const path = id === undefined ? '/agents' : `/agents/${encodeURIComponent(id)}`
  return state === '' ? path : `${path}?state=${state}`
}
