import { tmpdir } from 'node:os'
import { PassThrough, Readable } from 'node:stream'
import { systemClock } from '../../src/clock.ts'
import type { RunningCommand } from '../../src/contracts/commands.ts'
import { commandWords } from '../../src/guards/process/command/command-words.ts'
import { OwnedCommand, type OwnedCommandOptions } from '../../src/guards/process/command/owned-command.ts'
import type { CommandCall } from '../../src/guards/process/command-call.ts'
import type { Started } from '../../src/guards/process/start/started.ts'
import { startPlainly } from './plain-starter.ts'

/** A call that may do everything and redacts nothing. */
export function commandCall(options: Partial<CommandCall> = {}): CommandCall {
  return {
    callId: 'call-1',
    run: 'run-1',
    signal: () => new AbortController().signal,
    permits: () => undefined,
    redact: () => ({ push: (bytes) => bytes, end: () => new Uint8Array() }),
    ...options,
  }
}

/** Starts words, or a line for bash, without a jail and as a command of a call. */
export async function startCommand(
  line: string | readonly string[],
  { call, ...options }: Partial<Omit<OwnedCommandOptions, 'call'>> & { readonly call?: Partial<CommandCall> } = {},
): Promise<OwnedCommand> {
  const words = typeof line === 'string' ? commandWords({ command: line }) : line
  const started = options.started ?? (await startPlainly({ words, cwd: options.cwd ?? tmpdir(), env: {} }))
  return new OwnedCommand({
    id: 'calm-otter-3f2a',
    command: words.join(' '),
    cwd: tmpdir(),
    sandbox: 'none',
    call: commandCall(call),
    clock: systemClock,
    timeoutMs: 20_000,
    stdin: '',
    outputBytes: 1_000_000_000,
    watchDisk: () => () => undefined,
    register: () => undefined,
    release: async () => undefined,
    ...options,
    started,
  })
}

/** Waits until it is so; a command that ends before will never get there. */
export async function until(command: RunningCommand, isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    if (command.state().status !== 'running') throw new Error(`ended before: ${command.output().tail}`)
    await command.changed()
  }
}

/** What is started and has ended at once, without a process. */
export function endedAtOnce(): Started {
  return {
    stdin: new PassThrough(),
    stdout: Readable.from([]),
    stderr: Readable.from([]),
    exited: Promise.resolve({ exitCode: 0 }),
    stop: async () => {},
  }
}
