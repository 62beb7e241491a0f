import { isPlainObject } from '../../value/is-plain-object.ts'

const KEYWORD = 'x-mcp-header'
/** A token of RFC 9110. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])

/**
 * What is wrong with the arguments that a tool wants as HTTP headers (`x-mcp-header`); the protocol of 2026-07-28 says
 * that a client leaves such a tool out. Only plain arguments that `properties` alone lead to may be headers.
 */
export function findHeaderFault(schema: unknown): string | undefined {
  const seen = new Set<string>()
  const visit = (part: unknown, { isReachable, isRoot = false }: Place): string | undefined => {
    if (Array.isArray(part)) return firstOf(part, (each) => visit(each, { isReachable: false }))
    if (!isPlainObject(part)) return undefined
    if (Object.hasOwn(part, KEYWORD)) {
      const fault = isReachable && !isRoot ? faultOf(part, seen) : 'stands where no argument is'
      if (fault !== undefined) return `its ${KEYWORD} ${fault}`
    }
    return firstOf(Object.entries(part), ([keyword, value]) => {
      if (keyword !== 'properties' || !isPlainObject(value)) return visit(value, { isReachable: false })
      return firstOf(Object.values(value), (each) => visit(each, { isReachable }))
    })
  }
  return visit(schema, { isReachable: true, isRoot: true })
}

interface Place {
  readonly isReachable: boolean
  readonly isRoot?: boolean
}

function faultOf(part: Readonly<Record<string, unknown>>, seen: Set<string>): string | undefined {
  const name = part[KEYWORD]
  if (typeof name !== 'string' || !TOKEN.test(name)) return 'is not the name of a header'
  if (!TYPES.has(part.type)) return 'belongs to an argument that is no text, whole number or yes or no'
  if (seen.has(name.toLowerCase())) return `${JSON.stringify(name)} is there twice`
  seen.add(name.toLowerCase())
  return undefined
}

function firstOf<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
