import {
  type BaseContext,
  type FileChange,
  type Question,
  type ReadFiles,
  ToolError,
  type WriteFiles,
} from '@tool-hub/core'
import { z } from 'zod'
import { useCommands, useFetch } from './bridge-handles.ts'
import { content } from './messages.ts'

/** Bytes as they cross the pipe. */
const wireBytes = z.strictObject({ base64: z.string() }).transform(({ base64 }) => Buffer.from(base64, 'base64'))

/** A text, or bytes as they cross the pipe. */
const bytesOrText = z.union([z.string(), wireBytes])

/** One method of `ctx` that a plugin may call. */
export type CapabilityUse = (args: readonly unknown[]) => unknown

const text = z.string().max(10_000)
const evidence = z.strictObject({ type: z.enum(['file', 'url', 'tool', 'text']), ref: text, summary: text })
const question = z.strictObject({
  question: text,
  context: text.optional(),
  options: z.array(text).max(100).optional(),
  defaultAnswer: text.optional(),
  timeoutMs: z.number().min(0).optional(),
  form: z.record(z.string(), z.unknown()).optional(),
})
const artifactOptions = z.strictObject({ name: text.optional(), mediaType: text.optional() }).optional()

const MAX_REPORTED = 50_000
/** Reports are kept until the call ends; those over the limit are left out, which is reported. */
const MAX_REPORTED_BYTES = 5_000_000
const MAX_EVIDENCE = 1_000
const MAX_CONCURRENT = 500
/** A person answers them. */
const MAX_QUESTIONS = 20

/** Carries out what one call of an isolated plugin requests of its context: checked, then passed to the real one. */
export class CallBridge {
  readonly #ctx: BaseContext
  readonly #uses: ReadonlyMap<string, CapabilityUse>
  readonly #reports: ReadonlyMap<string, CapabilityUse>
  #reported = 0
  #reportedBytes = 0
  #evidence = 0
  #isFull = false
  #concurrent = 0
  #questions = 0
  #isAsking = false

  constructor(ctx: BaseContext) {
    this.#ctx = ctx
    this.#reports = new Map<string, CapabilityUse>([
      ['progress', ([update]) => ctx.progress(content.parse(update))],
      ['evidence', ([given]) => ctx.evidence(evidence.parse(given))],
      ['notice', ([given]) => ctx.notice(text.parse(given))],
      ['truncated', ([given]) => ctx.truncated(text.parse(given))],
      ['pending', ([given]) => ctx.pending(text.parse(given))],
    ])
    this.#uses = new Map<string, CapabilityUse>([
      ['artifact', ([given, options]) => ctx.artifact(bytesOrText.parse(given), artifactOptions.parse(options))],
      ['ask', ([given]) => this.#ask(question.parse(given) as Question)],
      ['call', ([tool, input]) => ctx.call(text.parse(tool), input)],
      ...useFiles(ctx),
      ...useFetch(ctx),
      ...useCommands(ctx),
    ])
  }

  /** Handles a message without an answer. Returns false if there are more of them, or others, than a tool may send. */
  report(method: string, args: readonly unknown[], bytes: number): boolean {
    const report = this.#reports.get(method)
    if (!report || ++this.#reported > MAX_REPORTED) return false
    if (!this.#hasRoom(method, bytes)) return true
    try {
      report(args)
    } catch (error) {
      throw error instanceof z.ZodError ? misused(method, error) : error
    }
    return true
  }

  async use(method: string, args: readonly unknown[]): Promise<unknown> {
    const use = this.#uses.get(method)
    if (!use) throw undeclared(method)
    if (this.#concurrent >= MAX_CONCURRENT) throw tooMany()
    this.#concurrent++
    try {
      return await use(args)
    } catch (error) {
      throw error instanceof z.ZodError ? misused(method, error) : error
    } finally {
      this.#concurrent--
    }
  }

  #hasRoom(method: string, bytes: number): boolean {
    this.#reportedBytes += bytes
    const isOneTooMany = method === 'evidence' && ++this.#evidence > MAX_EVIDENCE
    if (this.#reportedBytes <= MAX_REPORTED_BYTES && !isOneTooMany) return true
    if (!this.#isFull) this.#ctx.notice(TOO_MUCH)
    this.#isFull = true
    return false
  }

  async #ask(question: Question): Promise<unknown> {
    if (this.#isAsking) throw new ToolError('RATE_LIMITED', 'A call of an isolated plugin asks one question at a time.')
    if (++this.#questions > MAX_QUESTIONS) throw tooManyQuestions()
    this.#isAsking = true
    try {
      return await this.#ctx.ask(question)
    } finally {
      this.#isAsking = false
    }
  }
}

const TOO_MUCH = `The tool reported more than ${MAX_REPORTED_BYTES} bytes or ${MAX_EVIDENCE} pieces of evidence; some is left out.`

function tooManyQuestions(): ToolError {
  return new ToolError('RATE_LIMITED', `A call of an isolated plugin asks at most ${MAX_QUESTIONS} questions.`)
}

function undeclared(method: string): ToolError {
  return new ToolError(
    'POLICY_DENIED',
    `ctx.${method.slice(0, 50)} is not there: the tool does not declare what it needs.`,
    {
      hint: 'Declare the capability: read:fs, write:fs, network or exec.',
    },
  )
}

function tooMany(): ToolError {
  return new ToolError('RATE_LIMITED', `A call asks for at most ${MAX_CONCURRENT} things concurrently.`)
}

function misused(method: string, { issues }: z.ZodError): ToolError {
  const [first] = issues
  const what = `ctx.${method} cannot be used so: ${first?.path.join('.')} ${first?.message}`
  return new ToolError('INPUT_SCHEMA_INVALID', what, { hint: 'Correct the plugin.' })
}

/** What fits into one line together with its envelope. */
const MAX_BYTES = 7_000_000

const path = z.string().max(4_096)
const count = z.int().min(0).optional()
const flag = z.boolean().optional()
const globs = z.array(z.string().max(1_000)).max(100).optional()
const upTo = z.strictObject({ maxBytes: count }).optional()
const mkdirp = z.strictObject({ mkdirp: flag }).optional()
const range = z.strictObject({ offset: count, maxBytes: count }).default({})
const lines = z.strictObject({ offset: count, limit: count, maxBytes: count, maxChars: count }).optional()
const list = z.strictObject({ recursive: flag, maxDepth: count, maxEntries: count, includeHidden: flag }).optional()
const find = z.strictObject({ pattern: z.string(), limit: count, includeHidden: flag, includeIgnored: flag })
const search = z.strictObject({
  pattern: z.string(),
  isRegex: flag,
  ignoreCase: flag,
  globs,
  type: z.string().max(100).optional(),
  contextLines: count,
  multiline: flag,
  output: z.enum(['lines', 'files', 'counts']).optional(),
  maxMatches: count,
  maxFiles: count,
  includeHidden: flag,
  includeIgnored: flag,
})
const sha256 = z.string().max(64)
const write = { overwrite: flag, mkdirp: flag, replaces: sha256.optional(), mode: count }
const writeText = z.strictObject(write).optional()
const writeBytes = z.strictObject({ ...write, maxBytes: count }).optional()
const changes = z
  .array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('create'), path, content: bytesOrText, mode: count }),
      z.strictObject({ type: z.literal('replace'), path, content: bytesOrText, replaces: sha256 }),
      z.strictObject({ type: z.literal('remove'), path, replaces: sha256, movedTo: path.optional() }),
    ]),
  )
  .max(10_000)

/** The file methods of a call, as far as its tool declared them. */
function useFiles(ctx: BaseContext): [string, CapabilityUse][] {
  if (!('fs' in ctx)) return []
  const fs = ctx.fs as Partial<ReadFiles & WriteFiles>
  return [...(canRead(fs) ? readUses(fs) : []), ...(canWrite(fs) ? writeUses(fs) : [])]
}

function canRead(fs: Partial<ReadFiles>): fs is ReadFiles {
  return fs.readText !== undefined
}

function canWrite(fs: Partial<WriteFiles>): fs is WriteFiles {
  return fs.writeText !== undefined
}

function readUses(fs: ReadFiles): [string, CapabilityUse][] {
  return [
    ['fs.readText', ([at, options]) => fs.readText(path.parse(at), upTo.parse(options))],
    ['fs.readFile', ([at, options]) => fs.readFile(path.parse(at), upTo.parse(options))],
    ['fs.readBytes', ([at, options]) => readBytes(fs, path.parse(at), range.parse(options))],
    ['fs.readLines', ([at, options]) => fs.readLines(path.parse(at), lines.parse(options))],
    ['fs.stat', ([at]) => fs.stat(path.parse(at))],
    ['fs.sha256', ([at]) => fs.sha256(path.parse(at))],
    ['fs.list', ([at, options]) => fs.list(path.parse(at), list.parse(options))],
    ['fs.search', ([at, options]) => fs.search(path.parse(at), search.parse(options))],
    ['fs.find', ([at, options]) => fs.find(path.parse(at), find.parse(options))],
  ]
}

function writeUses(fs: WriteFiles): [string, CapabilityUse][] {
  return [
    [
      'fs.writeText',
      ([at, text, options]) => fs.writeText(path.parse(at), z.string().parse(text), writeText.parse(options)),
    ],
    [
      'fs.writeBytes',
      ([at, bytes, options]) => fs.writeBytes(path.parse(at), wireBytes.parse(bytes), writeBytes.parse(options)),
    ],
    ['fs.changeAll', ([given]) => fs.changeAll(changes.parse(given) as FileChange[])],
    ['fs.makeFolder', ([at, options]) => fs.makeFolder(path.parse(at), mkdirp.parse(options))],
    ['fs.move', ([from, to, options]) => fs.move(path.parse(from), path.parse(to), mkdirp.parse(options))],
    ['fs.copy', ([from, to, options]) => fs.copy(path.parse(from), path.parse(to), mkdirp.parse(options))],
    [
      'fs.remove',
      ([at, options]) => fs.remove(path.parse(at), z.strictObject({ recursive: flag }).optional().parse(options)),
    ],
  ]
}

async function readBytes(fs: ReadFiles, at: string, { offset, maxBytes }: z.infer<typeof range>) {
  const most = Math.min(maxBytes ?? MAX_BYTES, MAX_BYTES)
  const { content, ...facts } = await fs.readBytes(at, { ...(offset !== undefined && { offset }), maxBytes: most })
  return { ...facts, content: { base64: Buffer.from(content).toString('base64') } }
}
