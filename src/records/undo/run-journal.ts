import { join } from 'node:path'
import type { Durability, Journal, KeptChange, ToolError } from '../../core/index.ts'
import { diskError } from '../log/disk-error.ts'
import type { EventBody } from '../log/events.ts'
import { UndoFolder } from './undo-folder.ts'

/** What a journal needs from the record of its run; `RunRecords` provides it. */
export interface JournalRecords {
  readonly folder: string
  readonly problem: ToolError | undefined
  append(event: EventBody): void
  synced(): Promise<void>
}

/** Whose changes are journaled, and how. */
export interface RunJournalOptions {
  readonly callId: string
  readonly tool: string
  /** Maximum number of bytes that all calls of the run keep together. */
  readonly maxBytes: number
  /** With `behind` nothing waits for the disk. */
  readonly durability?: Durability
}

/** One per run: its calls share what is kept, and the limit. */
const folders = new WeakMap<JournalRecords, UndoFolder>()

/**
 * Creates the journal of one call: a change is an event of the run's chain, what it replaces is in the run's `undo/`
 * folder.
 */
export function createRunJournal(records: JournalRecords, options: RunJournalOptions): Journal {
  const { callId, tool, maxBytes, durability = 'effects' } = options
  const folder = folderOf(records)
  const secure = async (change: KeptChange): Promise<void> => {
    const kept = 'before' in change ? folder.secure(change.before.sha256) : undefined
    await Promise.all([records.synced(), kept])
  }
  return {
    keepFile: (source, state) => orDiskError(folder, () => folder.keepFile(source, state, maxBytes)),
    placeForTree: (bytes) => orDiskError(folder, () => folder.placeForTree(bytes, maxBytes)),
    async intend(change) {
      if (records.problem) throw records.problem
      records.append({ type: 'file-changing', callId, tool, ...change })
      if (durability !== 'behind') await orDiskError(folder, () => secure(change))
    },
  }
}

function folderOf(records: JournalRecords): UndoFolder {
  const present = folders.get(records)
  if (present) return present
  const folder = new UndoFolder(join(records.folder, 'undo'))
  folders.set(records, folder)
  return folder
}

async function orDiskError<T>({ path }: UndoFolder, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw diskError('What the change replaces cannot be kept', path, error)
  }
}
