/** Names share this many locks, because the server has room for a few thousand. Two names with one lock only wait longer. */
const LOCKS = 1_024

/** Takes locks until the end of the transaction, always in the same order. */
export function lockStatement(schema: string, names: readonly string[]): string {
  const space = hash(schema)
  const keys = [...new Set(names.map((name) => (hash(name) >>> 0) % LOCKS))].sort((a, b) => a - b)
  return `SELECT ${keys.map((key) => `pg_advisory_xact_lock(${space}, ${key})`).join(', ')}`
}

/** FNV-1a: 32 bits with sign. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value | 0
}
