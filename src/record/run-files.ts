import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import { type Lock, takeLock } from '../file-lock.ts'
import { AppendFile, type Disk } from './append-file.ts'
import { CallLog } from './call-log.ts'

/** What an open run holds of the system. */
export interface RunFiles {
  readonly lock: Lock
  readonly events: AppendFile
  readonly log: CallLog
}

/** Locks a run and opens its files: all of them or none. */
export function openRunFiles(
  folder: string,
  what: string,
  { clock, disk }: { readonly clock: Clock; readonly disk?: Disk },
): RunFiles {
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

/** Gives everything back; the lock last. */
export function closeRunFiles({ lock, events, log }: RunFiles): void {
  log.close()
  events.close()
  lock.release()
}
