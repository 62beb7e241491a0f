import { createHash } from 'node:crypto'
import type { Jail } from './jail.ts'

/** What tells jails apart: everything that they are started with. */
export function jailKey(jail: Omit<Jail, 'key' | 'swappable' | 'closed' | 'limits'>): string {
  const { level, file, args, env, companion } = jail
  const parts = [level, file, args, Object.entries(env).toSorted(), companion]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
}
