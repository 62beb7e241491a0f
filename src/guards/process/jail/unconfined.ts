import { findProgram } from './find-program.ts'
import type { Jail, JailSpec } from './jail.ts'
import { jailKey } from './jail-key.ts'
import { limitOptions } from './limits.ts'

/** No jail: a command as the hub's user, with its limits where the system has a program to set them. */
export function unconfinedJail(spec: JailSpec): Jail {
  const prlimit = findProgram('prlimit')
  const [file, ...args] = prlimit
    ? [prlimit, ...limitOptions(spec.limits, { isJailed: false }), '--']
    : ['/usr/bin/env', '--']
  const jail = { level: 'none', file: file!, args, env: spec.environment, limits: spec.limits } as const
  return { ...jail, key: jailKey(jail) }
}
