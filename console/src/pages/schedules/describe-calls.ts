/** What a call is about: the names that say most, first. */
const TELLING = ['command', 'path', 'url', 'from', 'query', 'pattern', 'task', 'text', 'content', 'code', 'name', 'key']
const MAX_CHARS = 300

/** The argument that says most about a call, on one line; `undefined` when the call has none. */
export function tellingArgument(input: unknown): string | undefined {
  if (input === undefined || input === null) return undefined
  if (typeof input !== 'object' || Array.isArray(input)) return asLine(input)
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null)
  const known = TELLING.flatMap((name) => given.filter(([key]) => key === name))
  const [name, value] = known[0] ?? given.find(([, each]) => typeof each === 'string') ?? given[0] ?? []
  if (name === undefined) return undefined
  return known.length > 0 ? asLine(value) : `${name}: ${asLine(value)}`
}

function asLine(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line
}
