import { z } from 'zod'
import type { RunningCommand } from '../../core/index.ts'

/** What is known of a command, and the last of what it has written. */
export const commandResult = z.strictObject({
  status: z.enum(['exited', 'running']).describe('running: it continues in the background.'),
  sessionId: z.string().optional().describe('The name of a command in the background, for core/exec.process.'),
  stdout: z.string().describe('The last of standard output.'),
  stderr: z.string().describe('The last of standard error.'),
  head: z.string().optional().describe('The first of both, where there was more than tail holds.'),
  tail: z
    .string()
    .describe('The last of both, in the order they were read; what both write at the same moment may change places.'),
  exitCode: z.int().optional().describe('What it ended with; absent while it runs and when a signal ended it.'),
  signal: z.string().optional().describe('The signal that ended it.'),
  timedOut: z.boolean().describe('Its time was over, so it was ended.'),
  overuse: z.string().optional().describe('What it added to the disk, so that it was ended.'),
  uncovered: z
    .string()
    .optional()
    .describe('A closed path whose file somebody replaced while it ran, so that it was ended.'),
  isWaiting: z.boolean().describe('It seems to wait for an answer on its standard input.'),
  durationMs: z.number().min(0).describe('How long it has run.'),
  bytes: z.int().min(0).describe('Bytes written to standard output and error in all.'),
  artifact: z.string().optional().describe('All of its output, where that is more than fits here.'),
  sandbox: z.enum(['full', 'namespaces', 'none']).describe('How strongly it was fenced in.'),
})

/** The same as a type. */
export type CommandResult = z.infer<typeof commandResult>

/** What to tell of a command now. */
export async function describeCommand(command: RunningCommand): Promise<CommandResult> {
  const { id, status, exitCode, signal, timedOut, overuse, uncovered, isBackground, isWaiting, ...rest } =
    command.state()
  const { durationMs, bytes, sandbox } = rest
  const { stdout, stderr, head, tail, isCut } = command.output()
  const isRunning = status === 'running'
  const artifact = isCut && !isRunning ? await command.artifact() : undefined
  return {
    status: isRunning ? 'running' : 'exited',
    ...(isBackground && { sessionId: id }),
    stdout,
    stderr,
    ...(head !== undefined && { head }),
    tail,
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
    timedOut,
    ...(overuse && { overuse: overuse.message }),
    ...(uncovered !== undefined && { uncovered }),
    isWaiting,
    durationMs,
    bytes,
    ...(artifact && { artifact: artifact.ref }),
    sandbox,
  }
}
