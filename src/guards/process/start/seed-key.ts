import { createHash } from 'node:crypto'
import type { Jail } from '../jail/jail.ts'

/** What a seed fixes at its birth: jails with the same key may grow from the same one. */
export function seedKey({ level, env, seccomp, companion, hasPrivateMounts, limits }: Jail): string {
  const filter = seccomp && [seccomp.fd, createHash('sha256').update(seccomp.program).digest('base64')]
  return JSON.stringify([
    level,
    Object.entries(env).toSorted(),
    filter,
    companion !== undefined,
    hasPrivateMounts,
    limits,
  ])
}
