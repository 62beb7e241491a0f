import type { CommandLimits, Jail, JailSpec } from './jail.ts'
import { jailKey } from './jail-key.ts'
import { macosProfile } from './macos-profile.ts'

/** A constant: the numbers come as parameters. macOS has no address space limit that holds. */
const SET_LIMITS =
  'ulimit -c 0 && ulimit -t "$1" && ulimit -f "$2" && ulimit -n "$3" && ulimit -u "$4" && shift 4 && exec "$@"'

/**
 * A jail of macOS: sandbox-exec with a profile of its own. Files and network are bound as in the others; processes are
 * not in a space of their own, so it counts as level namespaces at most.
 */
export function macosJail(spec: JailSpec): Jail {
  const temporary = ['TMPDIR', 'HOME'].flatMap((name) => spec.environment[name] ?? [])
  const args = ['-p', macosProfile(spec, { temporary }), '/bin/sh', '-c', SET_LIMITS, 'limits', ...numbers(spec.limits)]
  const jail = {
    level: 'namespaces',
    file: '/usr/bin/sandbox-exec',
    args,
    env: spec.environment,
    limits: spec.limits,
  } as const
  return { ...jail, key: jailKey(jail) }
}

function numbers(limits: CommandLimits): string[] {
  const blocks = Math.ceil(limits.fileBytes / 512)
  return [limits.cpuSeconds, blocks, limits.openFiles, limits.processes + 4096].map((value) =>
    value === Infinity ? 'unlimited' : String(Math.floor(value)),
  )
}
