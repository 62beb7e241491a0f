import { randomBytes } from 'node:crypto'
import { link, lstat, open, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { errnoOf } from '../disk/errno.ts'
import { openRegular } from '../disk/open-regular.ts'
import { assertOurs } from '../disk/owned-by-us.ts'
import type { ProcessIdentity } from '../disk/process-identity.ts'
import { ToolError } from '../errors.ts'
import type { ApprovalRequest } from '../result.ts'

/** A request as it lies in the inbox, with the process that waits for the answer. */
interface PostedRequest {
  readonly asker: ProcessIdentity
  readonly request: ApprovalRequest
}

const ID = /^[A-Za-z0-9_-]{1,100}$/
const REQUEST_FILE = /^([A-Za-z0-9_-]{1,100})\.json$/
const REPLY_FILE = /^([A-Za-z0-9_-]{1,100})\.reply\.json$/
const MOST_BYTES = 32_000_000
const STICKY = 0o1000

const requestSchema = z.strictObject({
  version: z.literal(1),
  asker: z.strictObject({
    pid: z.int().positive(),
    started: z.string().max(32).optional(),
    space: z.string().max(300),
  }),
  request: z.strictObject({
    id: z.string().regex(ID),
    callId: z.string(),
    run: z.string(),
    session: z.string().optional(),
    tool: z.string(),
    input: z.unknown(),
    targets: z.array(z.string()),
    rule: z.string(),
    reason: z.string(),
    caller: z.string(),
    purpose: z.string().optional(),
    requests: z.array(z.string()),
    hash: z.string(),
    askedAt: z.string(),
  }),
})

const replySchema = z.strictObject({ version: z.literal(1), hash: z.string(), reply: z.unknown() })

/** The files of an inbox, and nothing else in its folder: an id that is none never becomes a path. */
export class InboxFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The id of the request that a file name is about. */
  static idOf(name: string, kind: 'request' | 'reply'): string | undefined {
    return (kind === 'request' ? REQUEST_FILE : REPLY_FILE).exec(name)?.[1]
  }

  static isId(id: string): boolean {
    return ID.test(id)
  }

  /** Whoever can write into the folder can approve, so nobody else may, nor put another folder in its place. */
  async assertPrivate(): Promise<void> {
    try {
      assertOurs(await stat(this.#folder), this.#folder)
      const parent = dirname(this.#folder)
      const stats = await stat(parent)
      // In a sticky folder such as /tmp nobody moves what is ours.
      if ((stats.mode & STICKY) === 0) assertOurs(stats, parent)
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error
    }
  }

  /** Whatever lies in the folder; nothing as long as nobody asked. */
  async names(): Promise<string[]> {
    try {
      return await readdir(this.#folder)
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return []
      throw error
    }
  }

  async writeRequest(posted: PostedRequest): Promise<void> {
    await createWhole(this.#folder, this.#path(posted.request.id, '.json'), { version: 1, ...posted })
  }

  /** Writes the one answer that a request may get; EEXIST when there is one. */
  async writeReply(id: string, hash: string, reply: unknown): Promise<void> {
    await createWhole(this.#folder, this.#path(id, '.reply.json'), { version: 1, hash, reply })
  }

  /** The request, or nothing when there is none that can be understood; that of another user is refused. */
  async readRequest(id: string): Promise<PostedRequest | undefined> {
    const parsed = requestSchema.safeParse(await readJson(this.#path(id, '.json')))
    return parsed.success && parsed.data.request.id === id ? parsed.data : undefined
  }

  /** What was answered to the request with this hash, which is a no when another user wrote it; as hostile as any file. */
  async readReply(id: string, hash: string): Promise<{ readonly reply: unknown } | undefined> {
    try {
      const json = await readJson(this.#path(id, '.reply.json'))
      if (json === undefined) return undefined
      const parsed = replySchema.safeParse(json)
      return { reply: parsed.success && parsed.data.hash === hash ? parsed.data.reply : undefined }
    } catch (error) {
      if (!ToolError.is(error)) throw error
      return { reply: { decision: 'deny', by: 'tool-hub', reason: `${error.message} ${error.fix.hint}` } }
    }
  }

  async hasRequest(id: string): Promise<boolean> {
    return exists(this.#path(id, '.json'))
  }

  async hasReply(id: string): Promise<boolean> {
    return exists(this.#path(id, '.reply.json'))
  }

  async removeReply(id: string): Promise<void> {
    await rm(this.#path(id, '.reply.json'), { force: true })
  }

  /** The reply goes first: a reply without a request is one that came too late. */
  async remove(id: string): Promise<void> {
    await this.removeReply(id)
    await rm(this.#path(id, '.json'), { force: true })
  }

  #path(id: string, ending: '.json' | '.reply.json'): string {
    if (!ID.test(id)) throw new Error('unreachable: ids are checked before they come here')
    return join(this.#folder, `${id}${ending}`)
  }
}

/** Creates a file that readers see whole or not at all, unless it is there already. */
async function createWhole(folder: string, path: string, value: unknown): Promise<void> {
  const temporary = join(folder, `.${randomBytes(12).toString('hex')}.tmp`)
  try {
    const handle = await open(temporary, 'wx', 0o600)
    await handle.writeFile(JSON.stringify(value)).finally(() => handle.close())
    await link(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}

/** The JSON of a file; nothing when there is no file, `null` when it is none of ours. That of another user is refused. */
async function readJson(path: string): Promise<unknown> {
  const handle = await openRegular(path).catch((error) => (errnoOf(error) === 'ENOENT' ? undefined : null))
  if (!handle) return handle
  try {
    const stats = await handle.stat()
    assertOurs(stats, path)
    return stats.size > MOST_BYTES ? null : parseJson(await handle.readFile('utf8'))
  } finally {
    await handle.close()
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    return errnoOf(error) !== 'ENOENT'
  }
}
