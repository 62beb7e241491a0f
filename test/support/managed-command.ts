import { tmpdir } from 'node:os'
import { PassThrough, Readable } from 'node:stream'
import type { RunningCommand } from '../../packages/core/src/commands.ts'
import { systemClock } from '../../packages/core/src/context.ts'
import { commandArgv } from '../../packages/sandbox/src/exec/command/command-request.ts'
import { ManagedCommand, type ManagedCommandOptions } from '../../packages/sandbox/src/exec/command/managed-command.ts'
import type { CommandCall } from '../../packages/sandbox/src/exec/command-call.ts'
import type { CommandProcess } from '../../packages/sandbox/src/exec/start/sandbox-handle.ts'
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

/** Starts words, or a line for bash, without a sandbox, as a command of a call. */
export async function startCommand(
  line: string | readonly string[],
  { call, ...options }: Partial<Omit<ManagedCommandOptions, 'call'>> & { readonly call?: Partial<CommandCall> } = {},
): Promise<ManagedCommand> {
  const words = typeof line === 'string' ? commandArgv({ command: line }) : line
  const process = options.process ?? (await startPlainly({ words, cwd: options.cwd ?? tmpdir(), env: {} }))
  return new ManagedCommand({
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
    process,
  })
}

/** Waits until it is so; a command that ends before will never get there. */
export async function until(command: RunningCommand, isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    if (command.state().status !== 'running') throw new Error(`ended before: ${command.output().tail}`)
    await command.changed()
  }
}

/** A command that has ended immediately, without a process. */
export function endedProcess(): CommandProcess {
  return {
    stdin: new PassThrough(),
    stdout: Readable.from([]),
    stderr: Readable.from([]),
    exited: Promise.resolve({ exitCode: 0 }),
    stop: async () => {},
  }
}
