import type { Clock } from '../../core/clock.ts'
import type { ProgramEnd, RunningProgram } from '../../core/commands.ts'
import { ToolError } from '../../core/errors.ts'
import type { FeatureHost } from '../../core/feature.ts'
import type { CommandRunner } from '../../core/sessions.ts'
import { escapeText } from '../../lib/escape-text.ts'
import type { SessionTask } from './session-task.ts'
import { speakLines } from './speak-lines.ts'
import { speakText } from './speak-text.ts'

const REFERENCE = /\$\{(env|secret):([A-Za-z_][A-Za-z0-9_.-]{0,127})\}/g

/** Shorter ones would hide ordinary words. */
const MIN_SECRET_LENGTH = 6

/** Of the variable, or of the one that it refers to. */
const SAYS_SECRET = /key|token|secret|passw|credential|auth/i

const GRACE_MS = 500
/** Between its end and that of its output. */
const MOMENT_MS = 500
const MAX_STDERR_CHARS = 1_000

/** A conversation with a program: it gives the result, or undefined when the output ended without one. */
export type Speak = (program: RunningProgram, task: SessionTask) => Promise<string | undefined>

/** Works on a session with a program, which is gone when this is over, however it ends. */
export async function runCommand(runner: CommandRunner, task: SessionTask): Promise<string> {
  const { argv, cwd, env, sandbox, speaks = 'text' } = runner
  const { signal } = task.work
  const { host } = task
  signal.throwIfAborted()
  const program = await host.startProgram({
    argv,
    env: fillEnv(task.runner, env, { host, variables: process.env }),
    ...(cwd !== undefined && { cwd }),
    ...(sandbox && { fence: sandbox === true ? {} : sandbox }),
  })
  const stop = () => void program.stop({ graceMs: GRACE_MS }).catch(() => {})
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  // It does not listen any more; its end is what is told.
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

/** The last of what it says about itself, with nothing that could drive a terminal. */
function listen({ stderr }: RunningProgram, clock: Clock): () => Promise<string> {
  let tail = ''
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    tail = (tail + chunk).slice(-MAX_STDERR_CHARS)
  })
  const allSaid = new Promise<void>((resolve) => stderr.once('close', resolve).once('end', resolve))
  return async () => {
    // What it said at last may come after its end.
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

/** The environment of a runner with what it refers to; secrets, and what is called one, are hidden from then on. One that is missing is told by its name. */
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
