import { randomBytes } from 'node:crypto'
import { closeSync, constants, lstatSync, type Stats } from 'node:fs'
import { link, open, rename, unlink } from 'node:fs/promises'
import { syncFolder } from '../../disk/sync-folder.ts'
import { ToolError } from '../../errors.ts'
import { sha256 } from '../../value/hash.ts'
import { throwIfAborted } from '../throw-if-aborted.ts'
import { atDescriptor } from './at-descriptor.ts'
import { makeParent } from './make-parent.ts'
import type { Roots, Target } from './open-roots.ts'
import { quotePath } from './quote-path.ts'
import { lastLink, refuseLink } from './walk.ts'

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const LONE_SURROGATE = /\p{Surrogate}/u

/** What a write may do, and what it was asked to. */
interface WriteOptions {
  readonly signal: AbortSignal
  readonly overwrite: boolean
  readonly mkdirp: boolean
  readonly canOverwrite: boolean
  readonly limit: number
}

/** Writes a whole file or nothing: readers see the old text or the new one, also after a crash. */
export async function writeText(roots: Roots, target: Target, text: string, options: WriteOptions) {
  const content = encode(text, options.limit)
  throwIfAborted(options.signal)
  const parent = await makeParent(roots, target, options.mkdirp)
  try {
    const name = target.names.at(-1)!
    const present = lstatSync(atDescriptor(parent, name), { throwIfNoEntry: false })
    if (present) checkPresent(present, target, options)
    const linked = present?.isSymbolicLink() && lastLink(target, parent, name)
    if (linked) refuseLink(roots, linked, target)
    await replaceFile(parent, name, content, present, options)
    await syncFolder(atDescriptor(parent, '.'))
  } finally {
    closeSync(parent)
  }
  return { bytes: content.length, sha256: sha256(content) }
}

function encode(text: string, limit: number): Buffer {
  if (LONE_SURROGATE.test(text)) {
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      'The text has half a character (a lone surrogate), which UTF-8 cannot hold.',
    )
  }
  const content = Buffer.from(text)
  if (content.length <= limit) return content
  throw new ToolError('FILE_TOO_LARGE', `The text has ${content.length} bytes, the limit is ${limit}.`, {
    hint: 'Write less, or have the owner raise the limit of the rule.',
    details: { size: content.length, limit },
  })
}

function checkPresent(present: Stats, target: Target, { overwrite, canOverwrite }: WriteOptions): void {
  const shown = quotePath(target.path)
  if (present.isSymbolicLink()) return
  if (present.isDirectory()) throw new ToolError('INPUT_SCHEMA_INVALID', `${shown} is a folder, not a file.`)
  if (!present.isFile())
    throw new ToolError('PATH_DENIED', `${shown} is a pipe, a socket or a device, not a regular file.`)
  if (!overwrite) {
    throw new ToolError('CONFLICT', `${shown} exists already.`, {
      fix: { key: 'overwrite', value: true, hint: 'Choose another name, or overwrite on purpose.' },
    })
  }
  if (!canOverwrite) {
    throw new ToolError('POLICY_DENIED', `${shown} exists, and this tool may not overwrite.`, {
      fix: {
        key: 'capabilities',
        value: 'danger:destructive',
        hint: 'The tool has to declare danger:destructive and a rule has to allow it.',
      },
    })
  }
}

/** Fills a new file beside the old one, then gives it the name in one step. */
async function replaceFile(
  parent: number,
  name: string,
  content: Buffer,
  present: Stats | undefined,
  options: WriteOptions,
) {
  const temporary = atDescriptor(parent, `.tool-hub-${randomBytes(12).toString('hex')}.tmp`)
  const final = atDescriptor(parent, name)
  let mustRemove = false
  try {
    const file = await open(temporary, CREATE, present ? 0o600 : 0o666)
    mustRemove = true
    try {
      await file.writeFile(content, { signal: options.signal })
      if (present) await file.chmod(present.mode & 0o777)
      await file.sync()
    } finally {
      await file.close()
    }
    throwIfAborted(options.signal)
    if (present) {
      await rename(temporary, final)
      mustRemove = false
    }
    // A name that appeared meanwhile is not ours to replace: link fails where rename would not.
    else await link(temporary, final)
  } finally {
    if (mustRemove) await unlink(temporary)
  }
}
