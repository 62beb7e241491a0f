import { readdirSync, statSync } from 'node:fs'
import type { JailOwner } from './jail-owner.ts'

/** What of a jail's own /proc is closed. */
export interface ClosedInProc {
  /** Folders with switches. */
  readonly readOnly: readonly string[]
  /** Files. */
  readonly hidden: readonly string[]
}

/**
 * Most of /proc outside the folders of processes belongs to the whole machine, and there root may flip switches without
 * any capability: one of them names the program that the machine itself runs after a crash.
 */
export function closedInProc(owner: JailOwner): ClosedInProc {
  const isRoot = owner.uid === 0
  const found = known.get(isRoot) ?? look(isRoot)
  known.set(isRoot, found)
  return found
}

/** Looked at once, since every mount costs each command some time. */
const known = new Map<boolean, ClosedInProc>()

/** Beside `sys`, folders where root could write; closed where there is something to write to. */
const WITH_SWITCHES = ['fs', 'irq', 'bus', 'acpi', 'scsi', 'driver', 'dynamic_debug', 'asound', 'tty']
/** `keys` names the keys of the user; the timers name processes of others. */
const TELLING = ['keys', 'timer_list', 'sched_debug', 'latency_stats', 'sysrq-trigger']

function look(isRoot: boolean): ClosedInProc {
  const names = new Set(readdirSync('/proc'))
  const atRisk = isRoot ? WITH_SWITCHES.filter((name) => names.has(name) && canWriteIn(`/proc/${name}`)) : []
  const bit = isRoot ? 0o600 : 0o006
  const telling = TELLING.filter((name) => names.has(name) && (statSync(`/proc/${name}`).mode & bit) !== 0)
  return {
    readOnly: ['sys', ...atRisk].map((name) => `/proc/${name}`),
    hidden: telling.map((name) => `/proc/${name}`),
  }
}

/** Whether the owner of anything in a folder may write to it. */
function canWriteIn(folder: string): boolean {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((name) => isWritable(`${folder}/${name}`))
  } catch {
    // What cannot be looked into is closed to be sure.
    return true
  }
}

function isWritable(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && (found.mode & 0o200) !== 0
}
