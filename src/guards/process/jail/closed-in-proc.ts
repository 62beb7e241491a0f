import { readdirSync, statSync } from 'node:fs'
import type { JailSpec } from './jail.ts'
import type { JailOwner } from './jail-owner.ts'

/** What of the /proc of a sandbox is closed. */
export interface ClosedInProc {
  /** The folder that is mounted read-only. */
  readonly readOnly: '/proc' | '/proc/sys'
  /** Files. */
  readonly hidden: readonly string[]
}

/**
 * Most of /proc outside the folders of processes belongs to the whole machine. Root may change it there without any
 * capability: the mode of each file, and switches such as the program that the machine runs after a crash.
 * At level namespaces, a sandbox of another user writes its user map when it is complete: only /proc/sys is closed.
 */
export function closedInProc(level: JailSpec['level'], owner: JailOwner): ClosedInProc {
  const isRoot = owner.uid === 0
  const hidden = known.get(isRoot) ?? findTelling(isRoot)
  known.set(isRoot, hidden)
  return { readOnly: level === 'full' || isRoot ? '/proc' : '/proc/sys', hidden }
}

/** Looked at once: every mount costs each command some time. */
const known = new Map<boolean, readonly string[]>()

/** `keys` names the keys of the user; the timers name processes of others. */
const TELLING = ['keys', 'timer_list', 'sched_debug', 'latency_stats', 'sysrq-trigger']

function findTelling(isRoot: boolean): string[] {
  const names = new Set(readdirSync('/proc'))
  const bit = isRoot ? 0o600 : 0o006
  const telling = TELLING.filter((name) => names.has(name) && (statSync(`/proc/${name}`).mode & bit) !== 0)
  return telling.map((name) => `/proc/${name}`)
}
