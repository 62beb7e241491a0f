import {
  type BaseContext,
  type CommandRequest,
  type Context,
  type FileChange,
  type GuardedResponse,
  type ReadFiles,
  type RunningCommand,
  ToolError,
  type WriteFiles,
} from '@tool-hub/core'
import { z } from 'zod'

/** One method of `ctx` that a plugin may call. */
export type CapabilityUse = (args: readonly unknown[]) => unknown

/** Bytes as they cross the pipe. */
const wireBytes = z.strictObject({ base64: z.string() }).transform(({ base64 }) => Buffer.from(base64, 'base64'))

/** A text, or bytes as they cross the pipe. */
const bytesOrText = z.union([z.string(), wireBytes])

const name = z.string().max(10_000).optional()
const artifactOptions = z.strictObject({ name, mediaType: name }).optional()

/** What fits into one line together with its envelope. */
const MAX_BYTES = 7_000_000

/** The methods of the handles that a call has, as far as its tool declared them. */
export function handleUses(ctx: BaseContext): [string, CapabilityUse][] {
  return [
    ['artifact', ([given, options]) => ctx.artifact(bytesOrText.parse(given), artifactOptions.parse(options))],
    ...useFiles(ctx),
    ...useFetch(ctx),
    ...useCommands(ctx),
  ]
}

const path = z.string().max(4_096)
const count = z.int().min(0).optional()
const flag = z.boolean().optional()
const globs = z.array(z.string().max(1_000)).max(100).optional()
const upTo = z.strictObject({ maxBytes: count }).optional()
const mkdirp = z.strictObject({ mkdirp: flag }).optional()
const range = z.strictObject({ offset: count, maxBytes: count }).default({})
const lineRange = z.strictObject({ offset: count, limit: count, maxBytes: count, maxChars: count }).optional()
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
    ['fs.readLines', ([at, options]) => fs.readLines(path.parse(at), lineRange.parse(options))],
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
  const { content, ...facts } = await fs.readBytes(at, { offset, maxBytes: most })
  return { ...facts, content: { base64: Buffer.from(content).toString('base64') } }
}

const MAX_COMMANDS = 100
const MAX_WAIT_MS = 600_000

const argument = z.string().max(1_000_000)
const request = z.strictObject({
  argv: z.array(argument).min(1).max(10_000).optional(),
  command: argument.optional(),
  cwd: z.string().max(4_096).optional(),
  env: z.record(z.string(), argument).optional(),
  stdin: z.string().optional(),
  pty: z.boolean().optional(),
  background: z.boolean().optional(),
  timeoutMs: z.number().min(1),
})
const wait = z.strictObject({ withinMs: z.number().min(0).max(MAX_WAIT_MS).optional() }).default({})
const lines = z.strictObject({ offset: z.int().min(0).optional(), limit: z.int().min(0).optional() }).optional()

/**
 * The command methods of a call, if its tool declared `exec`; each answer includes the current state of the command.
 */
function useCommands(ctx: BaseContext): [string, CapabilityUse][] {
  if (!('exec' in ctx)) return []
  const { exec } = ctx as Context<'exec'>
  const commands: RunningCommand[] = []
  const use = (work: (command: RunningCommand, given: unknown) => unknown): CapabilityUse => {
    return async ([id, given]) => {
      const command = commands[z.int().min(0).parse(id)]
      if (!command) throw new ToolError('NOT_FOUND', 'Command not found.')
      const value = await work(command, given)
      return { value, state: command.state(), output: command.output() }
    }
  }
  return [
    [
      'exec.start',
      async ([given]) => {
        const asked = request.parse(given) as CommandRequest
        if (commands.length >= MAX_COMMANDS)
          throw new ToolError('RATE_LIMITED', `A call of an isolated plugin starts at most ${MAX_COMMANDS} commands.`)
        const command = await exec.start(asked)
        return { command: commands.push(command) - 1, state: command.state(), output: command.output() }
      },
    ],
    ['exec.ended', use((command, given) => command.ended(wait.parse(given)))],
    ['exec.changed', use((command, given) => command.changed(wait.parse(given)))],
    ['exec.log', use((command, given) => command.log(lines.parse(given)))],
    ['exec.write', use((command, given) => command.write(argument.parse(given)))],
    ['exec.closeInput', use((command) => command.closeInput())],
    ['exec.kill', use((command) => command.kill())],
    ['exec.toBackground', use((command) => command.toBackground())],
    ['exec.artifact', use((command) => command.artifact())],
  ]
}

const MAX_RESPONSES = 200

const number = z.number().min(0).optional()
// Streams stay in the hub: answers cross the bridge whole.
const fetchOptions = z
  .strictObject({
    method: z.string().max(20).optional(),
    headers: z.record(z.string().max(200), z.string().max(20_000)).optional(),
    body: z.string().optional(),
    maxBytes: z.int().min(1).optional(),
    timeoutMs: number,
    overflow: z.enum(['fail', 'cut']).optional(),
    retries: number,
    maxAgeMs: number,
  })
  .default({})
const readableOptions = z.strictObject({ as: z.enum(['markdown', 'text']).optional() }).optional()

/** The network methods of a call, if its tool declared `network`. */
function useFetch(ctx: BaseContext): [string, CapabilityUse][] {
  if (!('fetch' in ctx)) return []
  const { fetch } = ctx as Context<'network'>
  const responses: GuardedResponse[] = []
  const find = (given: unknown): GuardedResponse => {
    const response = responses[z.int().min(0).parse(given)]
    if (response) return response
    throw new ToolError('NOT_FOUND', 'Response not found.')
  }
  return [
    [
      'fetch',
      async ([url, given]) => {
        const { maxBytes = MAX_BYTES, ...options } = fetchOptions.parse(given)
        if (responses.length >= MAX_RESPONSES)
          throw new ToolError('RATE_LIMITED', `A call of an isolated plugin makes at most ${MAX_RESPONSES} requests.`)
        const response = await fetch(z.string().parse(url), { ...options, maxBytes: Math.min(maxBytes, MAX_BYTES) })
        const { status, headers, url: from, isCut, isCached } = response
        return { response: responses.push(response) - 1, status, headers, url: from, isCut, isCached }
      },
    ],
    ['fetch.bytes', async ([id]) => ({ base64: Buffer.from(await find(id).bytes()).toString('base64') })],
    ['fetch.text', ([id]) => find(id).text()],
    ['fetch.readable', ([id, options]) => find(id).readable(readableOptions.parse(options))],
  ]
}
