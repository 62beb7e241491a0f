import { ToolError } from '../../../core/errors.ts'
import type { CommandCall } from '../command-call.ts'
import type { ManagedCommand } from './managed-command.ts'

/** A command that is being started. */
interface PendingStart {
  readonly call: CommandCall
  readonly settled: Promise<unknown>
  isCancelled: boolean
}

/** The commands that end with their call, and those that are being started. */
export class CallCommands {
  readonly #commands = new Set<ManagedCommand>()
  readonly #pending = new Set<PendingStart>()
  #isClosed = false

  /** Starts a command. If its call or run ends meanwhile, the command is ended too and the start fails. */
  async start(call: CommandCall, start: () => Promise<ManagedCommand>): Promise<ManagedCommand> {
    if (this.#isClosed) throw closed()
    const outcome = start()
    const pending = { call, settled: outcome.catch(() => {}), isCancelled: false }
    this.#pending.add(pending)
    try {
      const command = await outcome
      this.#commands.add(command)
      void command.ended().then(() => {
        if (!command.hasTemporaryFile) this.#commands.delete(command)
      })
    } catch (error) {
      throw pending.isCancelled ? closed(error) : error
    } finally {
      this.#pending.delete(pending)
    }
    if (pending.isCancelled) throw closed()
    return outcome
  }

  /** From now on, the command belongs to its run instead of its call. */
  release(command: ManagedCommand): void {
    this.#commands.delete(command)
  }

  endCall(callId: string): Promise<void> {
    return this.#end((call) => call.callId === callId)
  }

  endRun(run: string): Promise<void> {
    return this.#end((call) => call.run === run)
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#end(() => true)
  }

  async #end(isMeant: (call: CommandCall) => boolean): Promise<void> {
    const pending = [...this.#pending].filter(({ call }) => isMeant(call))
    for (const one of pending) one.isCancelled = true
    await this.#discard(isMeant)
    // Commands whose start completes only now are ended as well.
    await Promise.all(pending.map(({ settled }) => settled))
    await this.#discard(isMeant)
  }

  async #discard(isMeant: (call: CommandCall) => boolean): Promise<void> {
    const commands = [...this.#commands].filter(({ call }) => isMeant(call))
    for (const command of commands) this.#commands.delete(command)
    await Promise.all(commands.map((command) => command.discard()))
  }
}

function closed(cause?: unknown): ToolError {
  return new ToolError('ABORTED', 'The run was closed while its command was being started.', { cause })
}
