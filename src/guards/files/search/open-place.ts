import { closeSync, constants, fstatSync, readSync } from 'node:fs'
import { errnoOf } from '../../../disk/errno.ts'
import { lazyModule } from '../../../disk/lazy-module.ts'
import { ToolError } from '../../../errors.ts'
import { type Link, openAt, openFolder, statAt } from '../at-descriptor.ts'
import type { Roots, Target } from '../open-roots.ts'
import { quotePath } from '../quote-path.ts'
import { destination, followLinks, inParent, lastLink } from '../walk.ts'
import type { Place } from './engine.ts'

const loadIgnoreAbove = lazyModule(() => import('./ignore-above.ts'))

const READ = constants.O_RDONLY | constants.O_NONBLOCK
const MAX_RULES_BYTES = 1_000_000

/** A folder or file below a root, held by a descriptor; `target` is what was really opened. */
export interface OpenPlace extends Omit<Place, 'rulesAbove'> {
  readonly target: Target
  close(): void
}

/** Opens what is to be searched; links on the way to it are followed as far as they stay inside. */
export function openPlace(roots: Roots, path: string): OpenPlace {
  return followLinks(roots, path, (target) => {
    const opened = inParent(target, (parent, name) => hold(target, parent, name))
    if (opened) return opened
    throw new ToolError('NOT_FOUND', `${quotePath(path)} does not exist.`)
  })
}

/** The .gitignore files between the root and the searched folder, rewritten to hold from that folder on. */
export async function readRulesAbove(folder: Target): Promise<string> {
  const texts: string[] = []
  for (let depth = 0; depth < folder.names.length; depth += 1) {
    const text = readRules({ ...folder, names: [...folder.names.slice(0, depth), '.gitignore'] })
    if (text === undefined) continue
    const { rebaseIgnoreRules } = await loadIgnoreAbove()
    texts.push(rebaseIgnoreRules(text, folder.names.slice(depth)))
  }
  return texts.join('\n')
}

function hold(target: Target, parent: number, name: string): OpenPlace | Link | undefined {
  const stats = statAt(parent, name)
  if (!stats) return undefined
  if (stats.isDirectory()) return holdFolder(target, target, parent, name)
  const link = stats.isSymbolicLink() ? lastLink(target, parent, name) : undefined
  if (link) return link
  if (!stats.isFile())
    throw new ToolError('PATH_DENIED', `${quotePath(target.path)} is not a regular file or a folder.`)
  if (target.saysFolder) throw new ToolError('NOT_FOUND', `${quotePath(target.path)} is a file, not a folder.`)
  return holdFolder(target, folderOf(target), parent, '.', name)
}

function holdFolder(target: Target, folder: Target, parent: number, name: string, file?: string) {
  const opened = openFolder(parent, name)
  if (typeof opened === 'number') return place(target, folder, opened, file)
  return opened && destination(target, target.names.length - 1, opened)
}

function place(target: Target, folder: Target, descriptor: number, file?: string): OpenPlace {
  return { target, folder, descriptor, file, close: () => closeSync(descriptor) }
}

function folderOf(target: Target): Target {
  return {
    ...target,
    names: target.names.slice(0, -1),
    path: target.path.slice(0, target.path.lastIndexOf('/')) || '/',
  }
}

/** The text of a .gitignore file; undefined without one, and when it is a link: git does not follow it either. */
function readRules(target: Target): string | undefined {
  const text = inParent(target, (parent, name) => {
    try {
      return { text: readStart(openAt(parent, name, READ)) }
    } catch (error) {
      if (['ENOENT', 'ELOOP', 'EACCES', 'ENXIO', 'EISDIR'].includes(errnoOf(error))) return undefined
      throw error
    }
  })
  return text && 'text' in text ? text.text : undefined
}

function readStart(descriptor: number): string {
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, MAX_RULES_BYTES))
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(descriptor)
  }
}
