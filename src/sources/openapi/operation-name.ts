import { toWireName } from '../../names.ts'
import { sha256 } from '../../value/hash.ts'

const LONGEST = 64
const HASH_CHARS = 6

/** What the name of an operation is made of. */
export interface NameParts {
  readonly namespace: string
  readonly tag: string | undefined
  readonly operationId: string | undefined
  readonly method: string
  readonly path: string
}

/** `<namespace>/<tag>.<operationId>` as a tool name. One that is too long, or there already, ends with a hash of method and path. */
export function operationName(parts: NameParts, taken: Set<string>): string {
  const tag = plain(parts.tag)
  const id = plain(parts.operationId) || plain(`${parts.method.toLowerCase()} ${parts.path}`) || 'operation'
  const whole = `${parts.namespace}/${tag ? `${tag}.` : ''}${id}`
  const isFree = whole.length <= LONGEST && !taken.has(toWireName(whole))
  const mark = sha256(`${parts.method} ${parts.path}`).slice(0, HASH_CHARS)
  const name = isFree ? whole : `${whole.slice(0, LONGEST - HASH_CHARS - 1).replace(/[./]$/, '')}-${mark}`
  taken.add(toWireName(name))
  return name
}

function plain(text = ''): string {
  return text.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '')
}
