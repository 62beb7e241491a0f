import { realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { ProgramFence } from '../../../contracts/commands.ts'
import { errnoOf } from '../../../disk/errno.ts'
import { ToolError } from '../../../errors.ts'
import { quotePath } from '../../files/quote-path.ts'
import { isWithin } from '../../is-within.ts'
import type { Executable } from './find-executable.ts'
import { isSeen } from './is-seen.ts'
import { packageFolder } from './package-folder.ts'

/** What is let into the jail of a program; real paths. */
export interface ProgramGrants {
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Folders that come first in PATH. */
  readonly path: readonly string[]
}

/** What the fence names, and what the program itself needs: its file, the package around it, and Node. */
export async function findGrants(
  executable: Executable,
  fence: Required<ProgramFence>,
  hidden: readonly string[],
): Promise<ProgramGrants> {
  const named = await Promise.all(fence.readable.map(realGrant))
  const writable = await Promise.all(fence.writable.map(realGrant))
  const node = await realpath(process.execPath)
  const isNodeSeen = isSeen(node, [])
  const readable = [...named, ...(isNodeSeen ? [] : [node]), ...(await ownFolders(executable, [...named, ...writable]))]
  for (const path of [...readable, ...writable]) refuseHidden(path, hidden)
  return { readable, writable, path: isNodeSeen ? [] : [dirname(node)] }
}

async function ownFolders({ path, real }: Executable, granted: readonly string[]): Promise<string[]> {
  const folders: string[] = []
  for (const place of new Set([path, real])) {
    if (isSeen(place, [...granted, ...folders])) continue
    const folder = await packageFolder(place)
    if (folder !== undefined) folders.push(folder)
    else if (place === real) folders.push(real)
  }
  return folders
}

async function realGrant(path: string): Promise<string> {
  try {
    return await realpath(resolve(path))
  } catch (error) {
    throw new ToolError('NOT_FOUND', `A fenced program cannot be given ${quotePath(path)}: ${errnoOf(error)}.`, {
      hint: 'Make it, or take it out of the readable and writable folders of the program.',
    })
  }
}

function refuseHidden(path: string, hidden: readonly string[]): void {
  const around = hidden.find((folder) => isWithin(folder, path))
  if (around === undefined) return
  throw new ToolError(
    'PATH_DENIED',
    `A fenced program cannot be given ${quotePath(path)}: the hub keeps its own there.`,
    {
      hint: `Give it a folder outside of ${quotePath(around)}.`,
    },
  )
}
