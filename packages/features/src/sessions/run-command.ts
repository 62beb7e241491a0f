import { type Clock, type FeatureHost, type ProgramEnd, type RunningProgram, ToolError } from '@tool-hub/core'
import { escapeLine, escapeText, LineSplitter, parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import {
  type CommandRunner,
  MAX_CONCURRENT_CALLS,
  MAX_LINE_BYTES,
  MAX_RESULT_CHARS,
  resultMessage,
  type SessionTask,
  taskMessage,
} from './runner.ts'
import { MAX_TEXT_CHARS } from './types.ts'

const REFERENCE = /\$\{(env|secret):([A-Za-z_][A-Za-z0-9_.-]{0,127})\}/g

/** Hiding shorter values would redact ordinary words. */
const MIN_SECRET_LENGTH = 6

/** Matches names of variables that probably hold a secret. */
const SAYS_SECRET = /key|token|secret|passw|credential|auth/i

const GRACE_MS = 500
/** How long to wait for the rest of the error output after the exit. */
const MOMENT_MS = 500
const MAX_STDERR_CHARS = 1_000

/** Talks to a program; resolves to the result, or to undefined if the output ended without one. */
export type Speak = (program: RunningProgram, task: SessionTask) => Promise<string | undefined>

/** Runs a session with a program; the program has exited when this settles. */
export async function runCommand(runner: CommandRunner, task: SessionTask): Promise<string> {
  const { argv, cwd, env, sandbox, speaks = 'text' } = runner
  const { signal } = task.work
  const { host } = task
  signal.throwIfAborted()
  const program = await host.startProgram({
    argv,
    env: fillEnv(task.runner, env, { host, variables: process.env }),
    ...(cwd !== undefined && { cwd }),
    ...(sandbox && { access: sandbox === true ? {} : sandbox }),
  })
  const stop = () => void program.stop({ graceMs: GRACE_MS }).catch(() => {})
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  // If it no longer reads its input, its exit is reported instead.
  program.stdin.on('error', () => {})
  const said = listen(program, host.clock)
  try {
    const result = await (speaks === 'text' ? speakText : speakLines)(program, task)
    if (result !== undefined && speaks === 'jsonl') return result
    const end = await program.ended
    signal.throwIfAborted()
    if (end.code !== 0) throw died(end, await said())
    if (result === undefined) throw died(end, await said(), ' without saying done')
    return result
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
    await program.stop({ graceMs: GRACE_MS })
  }
}

/** Collects the end of the error output, with control characters escaped. */
function listen({ stderr }: RunningProgram, clock: Clock): () => Promise<string> {
  let tail = ''
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    tail = (tail + chunk).slice(-MAX_STDERR_CHARS)
  })
  const allSaid = new Promise<void>((resolve) => stderr.once('close', resolve).once('end', resolve))
  return async () => {
    // The last output may arrive after the exit.
    const moment = new Promise<void>((resolve) => {
      const cancel = clock.after(MOMENT_MS, resolve)
      void allSaid.then(cancel)
    })
    await Promise.race([allSaid, moment])
    return tail.trim() === '' ? '' : ` It said: ${escapeText(tail.trim())}`
  }
}

function died({ code, signal }: ProgramEnd, said: string, how = ''): ToolError {
  const end = signal ? `was ended by ${signal}` : `ended with exit code ${code}${how}`
  return new ToolError('UPSTREAM_ERROR', `The runner ${end}.${said}`)
}

/**
 * Fills the references in the environment of a runner. Secrets, and values whose names look like one, are redacted from then
 * on. Throws `CONFIG_INVALID` with the name of a missing value.
 */
export function fillEnv(
  runner: string,
  env: Readonly<Record<string, string>> = {},
  { host, variables }: { host: Pick<FeatureHost, 'secret' | 'hide'>; variables: NodeJS.ProcessEnv },
): Record<string, string> {
  const hide = (value: string) => {
    if (value.length >= MIN_SECRET_LENGTH) host.hide([value])
  }
  const fill = (text: string, key: string) =>
    text.replaceAll(REFERENCE, (_, kind: string, name: string) => {
      const value = kind === 'secret' ? host.secret(name) : ownValue(variables, name)
      if (value === undefined) throw missing(kind, name, `sessions.runners.${runner}.env.${key}`)
      if (kind === 'secret' || SAYS_SECRET.test(name)) hide(value)
      return value
    })
  const filled = Object.entries(env).map(([key, text]) => [key, fill(text, key)] as const)
  for (const [key, value] of filled) if (SAYS_SECRET.test(key)) hide(value)
  return Object.fromEntries(filled)
}

function ownValue(variables: NodeJS.ProcessEnv, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined
}

function missing(kind: string, name: string, where: string): ToolError {
  const what = kind === 'secret' ? `the secret ${name}` : `the environment variable ${name}`
  return new ToolError('CONFIG_INVALID', `${where} needs ${what}, which is not set.`, {
    hint: kind === 'secret' ? 'Add it to secrets in tool-hub.yaml.' : 'Set it where tool-hub is started.',
  })
}

/** Writes the task to standard input and closes it; the whole standard output is the result. */
export const speakText: Speak = async ({ stdin, stdout }, { work }) => {
  let text = ''
  let cutChars = 0
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const kept = chunk.slice(0, MAX_RESULT_CHARS - text.length)
    text += kept
    cutChars += chunk.length - kept.length
  })
  const over = new Promise<void>((resolve) => stdout.once('close', resolve).once('end', resolve))
  stdin.end(work.task)
  await over
  const result = text.trim()
  return cutChars === 0 ? result : `${result}\n[${cutChars} characters were cut]`
}

const MAX_SHOWN_CHARS = 200

const lineSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('call'),
    id: z.string().min(1).max(200),
    tool: z.string().min(1).max(200),
    input: z.unknown(),
  }),
  z.object({
    type: z.literal('say'),
    text: z.string().min(1).max(MAX_TEXT_CHARS),
    replyTo: z.string().max(100).optional(),
  }),
  z.object({ type: z.literal('done'), text: z.string() }),
])

type RunnerLine = z.infer<typeof lineSchema>

/** Exchanges one JSON message per line: the program calls tools and sends messages until it is done. */
export const speakLines: Speak = ({ stdin, stdout }, task) =>
  new Promise((resolve, reject) => {
    const { work } = task
    const lines = new LineSplitter(MAX_LINE_BYTES)
    // Resolves when the line is written, so unread messages wait in the inbox, which is bounded.
    const send = (message: object) =>
      new Promise<void>((taken) => void stdin.write(`${JSON.stringify(message)}\n`, () => taken()))
    let underWay = 0
    let isOver = false
    const finish = (settle: () => void) => {
      isOver = true
      settle()
    }
    const hear = (said: RunnerLine) => {
      if (said.type === 'done') return finish(() => resolve(said.text))
      if (said.type === 'say') return void work.say(said.text, said).catch((error) => finish(() => reject(error)))
      if (underWay >= MAX_CONCURRENT_CALLS) throw tooMany()
      underWay++
      work
        .call(said.tool, said.input)
        .then((result) => send({ type: 'result', ...resultMessage(said.id, result) }))
        .catch((error) => finish(() => reject(error)))
        .finally(() => {
          underWay--
        })
    }
    stdout.on('data', (chunk: Buffer) => {
      if (isOver) return
      try {
        for (const line of lines.push(chunk)) if (!isOver && line.trim() !== '') hear(readLine(line))
      } catch (error) {
        finish(() => reject(error instanceof RangeError ? tooLong(error) : error))
      }
    })
    for (const end of ['close', 'end'] as const) stdout.once(end, () => finish(() => resolve(undefined)))
    void send(taskMessage(work))
    void passOn(task, send)
  })

/** Forwards messages to the session to the program as they arrive. */
async function passOn({ work }: SessionTask, send: (message: object) => Promise<void>): Promise<void> {
  try {
    for await (const message of work.messages()) await send({ type: 'message', ...message })
  } catch {
    // The session is over, which is reported elsewhere.
  }
}

function readLine(line: string): RunnerLine {
  const parsed = lineSchema.safeParse(parseJson(line))
  if (parsed.success) return parsed.data
  const shown = JSON.stringify(escapeLine(line.slice(0, MAX_SHOWN_CHARS)))
  throw new ToolError('UPSTREAM_ERROR', `The runner wrote a line that is neither call, say nor done: ${shown}.`, {
    hint: 'See docs/reference/sessions.md for the lines; what is for people belongs on standard error.',
  })
}

function tooLong({ message }: RangeError): ToolError {
  return new ToolError('UPSTREAM_ERROR', `The runner wrote too much: ${message}.`)
}

function tooMany(): ToolError {
  return new ToolError('UPSTREAM_ERROR', `The runner has more than ${MAX_CONCURRENT_CALLS} concurrent calls.`)
}
