/** The arguments that say what a call asks for, the most telling first. */
const TELLING =
  'command url path query pattern question task expression ref name key title text content message prompt'.split(' ')
const MAX_CHARS = 300
const MAX_TARGETS = 3

/**
 * What a call asks for, in a line: its command, address, path or query, else what it touches, else its first argument.
 * `args` are those of the record, without secrets; they are missing where they are large.
 */
export function requestLine(args: unknown, targets: readonly string[] = []): string | undefined {
  const given = typeof args === 'object' && args !== null ? Object.entries(args) : []
  const texts = new Map(given.flatMap(([name, value]) => (isTelling(value) ? [[name, asText(value)] as const] : [])))
  const [from, to] = [texts.get('from'), texts.get('to')]
  if (from !== undefined && to !== undefined) return asLine(`${from} → ${to}`)
  const told = [texts.get('argv'), ...TELLING.map((name) => texts.get(name))].find((text) => text !== undefined)
  const first = told ?? (touched(targets) || texts.values().next().value)
  return first === undefined ? undefined : asLine(first)
}

function isTelling(value: unknown): value is string | string[] {
  if (Array.isArray(value)) return value.length > 0 && value.every((each) => typeof each === 'string')
  return typeof value === 'string' && value !== ''
}

function asText(value: string | readonly string[]): string {
  return typeof value === 'string' ? value : value.join(' ')
}

/** `read:fs /a` and `write:fs /a` are one file. */
function touched(targets: readonly string[]): string {
  const names = [...new Set(targets.map((target) => target.slice(target.indexOf(' ') + 1)))]
  const more = names.length - MAX_TARGETS
  return names.slice(0, MAX_TARGETS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function asLine(text: string): string {
  const line = text
    .slice(0, MAX_CHARS * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > MAX_CHARS || text.length > MAX_CHARS * 2 ? `${line.slice(0, MAX_CHARS)}…` : line
}
