import { sha256 } from '../../value/hash.ts'

const PLAIN = /^[A-Za-z0-9_-]+$/
const LONGEST = 64
/** So many that nobody finds a second name with the same. */
const HASH_CHARS = 16
/** A name that reads as if it had been changed. */
const LIKE_CHANGED = new RegExp(`-[0-9a-f]{${HASH_CHARS}}$`)

/**
 * The name of a server's tool in a hub, `mcp/<server>.<tool>`. It depends on nothing but the server, the tool and the
 * names of the other servers, so that it never comes to mean another tool. One that had to change, that reads as if it
 * had been, or that would read like a tool of another server on the wire (`b_c` of `a`, when there is a server `a_b`),
 * ends with a hash of the whole.
 */
export function toToolName(server: string, tool: string, servers: Iterable<string>): string {
  const prefix = `mcp/${server}.`
  const isPlain = PLAIN.test(tool) && !LIKE_CHANGED.test(tool) && prefix.length + tool.length <= LONGEST
  if (isPlain && !isAmbiguous(server, tool, servers)) return prefix + tool
  const room = LONGEST - prefix.length - HASH_CHARS - 1
  const readable = tool.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, room)
  return `${prefix}${readable}-${sha256(tool).slice(0, HASH_CHARS)}`
}

function isAmbiguous(server: string, tool: string, servers: Iterable<string>): boolean {
  const wire = `${server}_${tool}`
  for (const other of servers) {
    if (other.length > server.length && wire.startsWith(`${other}_`)) return true
  }
  return false
}
