import { mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { assertOurFolder, type Lock, takeLock } from '../../system/index.ts'
import { AppendFile, type Disk } from './append-file.ts'
import { CallLog } from './call-log.ts'

/** What an open run holds of the system. */
export interface RunFiles {
  readonly lock: Lock
  readonly events: AppendFile
  readonly log: CallLog
}

/** Where the record itself lies. What tools write to, workspace and deliverables, is theirs. */
const OUR_FOLDERS = ['logs', 'archive', 'artifacts', 'undo'] as const
const TOOL_FOLDERS = ['workspace', 'deliverables'] as const

/** Makes the folders of a run, locks it and opens its files: all of them or none. What others could change is refused. */
export function openRunFiles(
  folder: string,
  what: string,
  { clock, disk }: { readonly clock: Clock; readonly disk?: Disk },
): RunFiles {
  makeFolders(folder)
  const lock = takeLock(join(folder, 'lock'), {
    what,
    fix: { key: 'run', hint: 'Use another run id, or close the hub that holds this one.' },
  })
  try {
    const events = new AppendFile(join(folder, 'events.jsonl'), disk)
    try {
      return { lock, events, log: new CallLog(join(folder, 'logs'), events, clock) }
    } catch (error) {
      events.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

function makeFolders(folder: string): void {
  // The user whom root leaves the workspace to passes through here; nobody else can read or list anything.
  mkdirSync(folder, { recursive: true, mode: process.geteuid?.() === 0 ? 0o711 : 0o700 })
  assertOurFolder(folder, basename(folder))
  for (const name of OUR_FOLDERS) {
    makeFolder(join(folder, name))
    assertOurFolder(join(folder, name), `${basename(folder)}/${name}`)
  }
  for (const name of TOOL_FOLDERS) makeFolder(join(folder, name))
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
  }
}

/** Gives everything back; the lock last. */
export function closeRunFiles({ lock, events, log }: RunFiles): void {
  log.close()
  events.close()
  lock.release()
}
