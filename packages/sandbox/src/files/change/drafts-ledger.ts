import { randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import {
  currentProcess,
  isAlive,
  openRegular,
  type ProcessIdentity,
  prepareMissingDataFolder,
} from '../../system/index.ts'
import { isDraftName } from '../access/steady-changes.ts'
import { createFilesRoot, type FilesRoot } from '../files-root.ts'
import { type FileTarget, openRoots } from '../roots.ts'
import { inParent, openFolder } from '../walk.ts'
import { deleteTree } from './tree.ts'

/** Where a process records its drafts before it creates them, so that the next one can remove what a crash left behind. */
export interface DraftsLedger {
  /** Records a draft; call the returned function when the draft no longer exists. */
  begin(path: string): () => void
  /** Removes the ledger file once the last draft no longer exists. */
  close(): void
}

/** The file is emptied when it has grown to this size and there are no drafts. */
const TIDY_BYTES = 65_536

const NO_LEDGER: DraftsLedger = { begin: () => () => {}, close() {} }

/** The file extension of a ledger. */
const LEDGER_ENDING = '.drafts.jsonl'

/** Creates the ledger of one guard: the first line identifies its process, each further line is the path of a draft. */
export function createDraftsLedger(folder: string | undefined): DraftsLedger {
  return folder === undefined ? NO_LEDGER : new FileLedger(folder)
}

class FileLedger implements DraftsLedger {
  readonly #folder: string
  #file: { readonly path: string; readonly descriptor: number } | undefined
  #written = 0
  #underWay = 0
  #isClosed = false

  constructor(folder: string) {
    this.#folder = folder
  }

  begin(path: string): () => void {
    try {
      this.#file ??= this.#open()
      // Without fsync, which every change would wait for: a killed process loses no line. After a loss of power an
      // unlisted draft may stay; it has a name that no search finds and no copy includes.
      this.#written += writeSync(this.#file.descriptor, `${JSON.stringify(path)}\n`)
    } catch (error) {
      throw cannotWrite(this.#folder, error)
    }
    this.#underWay += 1
    return () => this.#end()
  }

  close(): void {
    this.#isClosed = true
    if (this.#underWay === 0) this.#remove()
  }

  #end(): void {
    this.#underWay -= 1
    if (this.#underWay > 0) return
    if (this.#isClosed) this.#remove()
    else if (this.#written > TIDY_BYTES) this.#empty()
  }

  #open(): { path: string; descriptor: number } {
    prepareMissingDataFolder(dirname(this.#folder))
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const path = join(this.#folder, `${process.pid}-${randomBytes(6).toString('hex')}${LEDGER_ENDING}`)
    const descriptor = openSync(path, 'ax', 0o600)
    writeSync(descriptor, ownerLine())
    return { path, descriptor }
  }

  #empty(): void {
    ftruncateSync(this.#file!.descriptor)
    writeSync(this.#file!.descriptor, ownerLine())
    this.#written = 0
  }

  #remove(): void {
    if (!this.#file) return
    closeSync(this.#file.descriptor)
    rmSync(this.#file.path, { force: true })
    this.#file = undefined
  }
}

function ownerLine(): string {
  return `${JSON.stringify(currentProcess())}\n`
}

/** The target of the change is not the cause, so the error must not be about the target. */
function cannotWrite(folder: string, cause: unknown): ToolError {
  const errno = errnoOf(cause)
  const options = { cause, details: { folder, errno } }
  if (errno === 'ENOSPC' || errno === 'EDQUOT') {
    return new ToolError(
      'RECORDS_UNAVAILABLE',
      `The list of unfinished files cannot be kept: the disk is full (${errno}).`,
      {
        ...options,
        fix: { key: 'data', hint: 'Free space on the disk of the data folder, or point data to another one.' },
      },
    )
  }
  return new ToolError('CONFIG_INVALID', `The list of unfinished files cannot be kept in the data folder (${errno}).`, {
    ...options,
    fix: { key: 'data', hint: 'Point data to a folder that this user can create and write.' },
  })
}

/**
 * Removes the drafts of processes that no longer exist, below the open roots and below further folders of the owner; other
 * drafts stay on their list.
 */
export async function sweepDrafts(filesRoot: FilesRoot, folder: string, below: readonly string[] = []): Promise<void> {
  for (const name of await list(folder)) {
    if (!name.endsWith(LEDGER_ENDING)) continue
    const path = join(folder, name)
    try {
      const drafts = await draftsOfTheDead(path)
      if (drafts && (await areRemoved(drafts, filesRoot, below))) await rm(path, { force: true })
    } catch {
      // A list that cannot be read or emptied stays for the next start; it must not prevent this one.
    }
  }
}

/** Without a shared root, the workspace of the run that crashed is below no root of the new run. */
async function areRemoved(drafts: readonly string[], filesRoot: FilesRoot, below: readonly string[]): Promise<boolean> {
  const further = below.flatMap(openFilesRoot)
  try {
    const areGone = await Promise.all(drafts.map((draft) => removeDraft([filesRoot, ...further], draft)))
    return areGone.every(Boolean)
  } finally {
    for (const { roots } of further) roots.close()
  }
}

function openFilesRoot(path: string): FilesRoot[] {
  try {
    return [createFilesRoot(openRoots([{ path, mode: 'write' }]), 0, [])]
  } catch (error) {
    // A missing folder has no drafts.
    if (ToolError.is(error)) return []
    throw error
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Undefined while the process runs. */
async function draftsOfTheDead(path: string): Promise<string[] | undefined> {
  const file = await openRegular(path)
  try {
    const [owner = '', ...lines] = (await readFile(file, 'utf8')).split('\n')
    if (isAlive(parseOwner(owner))) return undefined
    // The last line may be cut off by the crash: then its draft was never created.
    return lines.slice(0, -1).map((line) => String(JSON.parse(line)))
  } finally {
    await file.close()
  }
}

function parseOwner(line: string): ProcessIdentity {
  const owner = JSON.parse(line) as Partial<ProcessIdentity> | null
  if (typeof owner?.pid !== 'number' || typeof owner.space !== 'string') throw new TypeError('not a ledger')
  return owner as ProcessIdentity
}

/** True if the draft no longer exists, false if that is unknown because its root is not open. */
async function removeDraft(filesRoots: readonly FilesRoot[], path: string): Promise<boolean> {
  const [target] = filesRoots.flatMap((filesRoot) => locate(filesRoot, path))
  if (!target) return false
  if (!isDraftName(target.names.at(-1) ?? '')) return true
  // The folder is opened again, as the guard may close during the removal.
  const parent = inParent(target, (descriptor) => openFolder(descriptor, '.'))
  if (typeof parent !== 'number') return true
  await deleteTree(parent, target.names.at(-1)!).finally(() => closeSync(parent))
  return true
}

function locate(filesRoot: FilesRoot, path: string): FileTarget[] {
  try {
    const target = filesRoot.roots.locate(path)
    filesRoot.admit(target, 'write')
    return [target]
  } catch (error) {
    if (ToolError.is(error)) return []
    throw error
  }
}
