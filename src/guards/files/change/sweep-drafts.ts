import { closeSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../../../disk/errno.ts'
import { openRegular } from '../../../disk/open-regular.ts'
import { isAlive, type ProcessIdentity } from '../../../disk/process-identity.ts'
import { ToolError } from '../../../errors.ts'
import { openFolder } from '../at-descriptor.ts'
import { createFilesDoor, type FilesDoor } from '../files-door.ts'
import { openRoots, type Target } from '../open-roots.ts'
import { inParent } from '../walk.ts'
import { deleteTree } from './delete-tree.ts'
import { isDraftName } from './draft-name.ts'
import { LEDGER_ENDING } from './drafts-ledger.ts'

/**
 * Removes the drafts of processes that are gone, below the roots that are open and below further folders of the owner's;
 * the others stay on their list.
 */
export async function sweepDrafts(door: FilesDoor, folder: string, below: readonly string[] = []): Promise<void> {
  for (const name of await list(folder)) {
    if (!name.endsWith(LEDGER_ENDING)) continue
    const path = join(folder, name)
    try {
      const drafts = await draftsOfTheDead(path)
      if (drafts && (await areRemoved(drafts, door, below))) await rm(path, { force: true })
    } catch {
      // One list that cannot be read or emptied stays for the next start; it must not stop the work that begins now.
    }
  }
}

/** Without a root for all runs, the workspace of the run that died is below no root of the run that begins. */
async function areRemoved(drafts: readonly string[], door: FilesDoor, below: readonly string[]): Promise<boolean> {
  const further = below.flatMap(openDoor)
  try {
    const areGone = await Promise.all(drafts.map((draft) => removeDraft([door, ...further], draft)))
    return areGone.every(Boolean)
  } finally {
    for (const { roots } of further) roots.close()
  }
}

function openDoor(path: string): FilesDoor[] {
  try {
    return [createFilesDoor(openRoots([{ path, mode: 'write' }]), 0, [])]
  } catch (error) {
    // A folder that is not there has no drafts.
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

/** Undefined while the process lives. */
async function draftsOfTheDead(path: string): Promise<string[] | undefined> {
  const file = await openRegular(path)
  try {
    const [owner = '', ...lines] = (await readFile(file, 'utf8')).split('\n')
    if (isAlive(parseOwner(owner))) return undefined
    // The last line may be cut by the crash: then its draft was never made.
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

/** True when the draft is gone, false when nobody can tell because its root is not open. */
async function removeDraft(doors: readonly FilesDoor[], path: string): Promise<boolean> {
  const [target] = doors.flatMap((door) => locate(door, path))
  if (!target) return false
  if (!isDraftName(target.names.at(-1) ?? '')) return true
  // The folder is opened anew for the work that takes a while: the guard may close meanwhile.
  const parent = inParent(target, (descriptor) => openFolder(descriptor, '.'))
  if (typeof parent !== 'number') return true
  await deleteTree(parent, target.names.at(-1)!).finally(() => closeSync(parent))
  return true
}

function locate(door: FilesDoor, path: string): Target[] {
  try {
    const target = door.roots.locate(path)
    door.admit(target, 'write')
    return [target]
  } catch (error) {
    if (ToolError.is(error)) return []
    throw error
  }
}
