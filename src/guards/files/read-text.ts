import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, read, type Stats } from 'node:fs'
import { errnoOf } from '../../disk/errno.ts'
import { ToolError } from '../../errors.ts'
import { atDescriptor, type Link } from './at-descriptor.ts'
import type { Roots, Target } from './open-roots.ts'
import { quotePath } from './quote-path.ts'
import { followLinks, inParent, lastLink } from './walk.ts'

// Without O_NONBLOCK a pipe with no writer would hang the process.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Reads a regular file as the UTF-8 text it held when it was opened; `admit` judges the target that was really opened. */
export async function readText(
  roots: Roots,
  path: string,
  limit: number,
  admit: (target: Target) => void,
): Promise<string> {
  const { descriptor, target } = followLinks(roots, path, openFile)
  try {
    admit(target)
    const size = checkFile(fstatSync(descriptor), path, limit)
    return decode(await readBytes(descriptor, size), path)
  } finally {
    closeSync(descriptor)
  }
}

function openFile(target: Target): { descriptor: number; target: Target } | Link {
  const opened = inParent(target, (parent, name) => {
    try {
      return { descriptor: openSync(atDescriptor(parent, name), READ), target }
    } catch (error) {
      const link = errnoOf(error) === 'ELOOP' ? lastLink(target, parent, name) : undefined
      if (link) return link
      throw error
    }
  })
  if (opened) return opened
  throw new ToolError('NOT_FOUND', `${quotePath(target.path)} does not exist.`)
}

function checkFile(stats: Stats, path: string, limit: number): number {
  if (stats.isDirectory()) throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is a folder, not a file.`)
  if (!stats.isFile())
    throw new ToolError('PATH_DENIED', `${quotePath(path)} is a pipe or a device, not a regular file.`)
  if (stats.size <= limit) return stats.size
  throw new ToolError('FILE_TOO_LARGE', `${quotePath(path)} has ${stats.size} bytes, the limit is ${limit}.`, {
    hint: 'Read another file, or have the owner raise limits.read.',
    details: { size: stats.size, limit },
  })
}

/** At most `size` bytes, however the file grows meanwhile. */
async function readBytes(descriptor: number, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size)
  let length = 0
  while (length < size) {
    const count = await readInto(descriptor, bytes, length)
    if (count === 0) break
    length += count
  }
  return bytes.subarray(0, length)
}

/** The callback form: `fs/promises` would need a FileHandle, and the walk opens plain descriptors. */
function readInto(descriptor: number, bytes: Buffer, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, bytes, offset, bytes.length - offset, offset, (error, count) =>
      error ? reject(error) : resolve(count),
    )
  })
}

function decode(bytes: Buffer, path: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw new ToolError('INPUT_SCHEMA_INVALID', `${quotePath(path)} is not UTF-8 text (${bytes.length} bytes).`, {
    hint: 'It is binary or in another encoding; use a tool for that kind of file.',
  })
}
