import type { Clock } from '../../clock.ts'
import type { ProgramEnd, RunningProgram } from '../../contracts/commands.ts'
import type { CommandRunner } from '../../contracts/sessions.ts'
import { ToolError } from '../../errors.ts'
import { escapeText } from '../../value/escape-text.ts'
import { fillEnv } from './fill-env.ts'
import type { SessionTask } from './session-task.ts'
import { speakLines } from './speak-lines.ts'
import { speakText } from './speak-text.ts'

const GRACE_MS = 500
/** Between its end and that of its output. */
const MOMENT_MS = 500
const MOST_STDERR_CHARS = 1_000

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
    tail = (tail + chunk).slice(-MOST_STDERR_CHARS)
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
