import { ToolError } from '../../../errors.ts'
import type { CommandCall } from '../command-call.ts'
import type { OwnedCommand } from './owned-command.ts'

/** A command that is being started. */
interface Starting {
  readonly call: CommandCall
  readonly settled: Promise<unknown>
  isUnwanted: boolean
}

/** The commands that end with their call, and those that are just being started. */
export class CallCommands {
  readonly #commands = new Set<OwnedCommand>()
  readonly #starting = new Set<Starting>()
  #isClosed = false

  /** Starts one; where its call or run is ended meanwhile, it is ended as well and was never there. */
  async start(call: CommandCall, start: () => Promise<OwnedCommand>): Promise<OwnedCommand> {
    if (this.#isClosed) throw closed()
    const outcome = start()
    const starting = { call, settled: outcome.catch(() => {}), isUnwanted: false }
    this.#starting.add(starting)
    try {
      const command = await outcome
      this.#commands.add(command)
      void command.ended().then(() => {
        if (!command.hasLooseFile) this.#commands.delete(command)
      })
    } catch (error) {
      throw starting.isUnwanted ? closed(error) : error
    } finally {
      this.#starting.delete(starting)
    }
    if (starting.isUnwanted) throw closed()
    return outcome
  }

  /** It belongs to its run from now on. */
  release(command: OwnedCommand): void {
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
    const starting = [...this.#starting].filter(({ call }) => isMeant(call))
    for (const one of starting) one.isUnwanted = true
    await this.#forget(isMeant)
    // Those that stand only now are ended as well.
    await Promise.all(starting.map(({ settled }) => settled))
    await this.#forget(isMeant)
  }

  async #forget(isMeant: (call: CommandCall) => boolean): Promise<void> {
    const commands = [...this.#commands].filter(({ call }) => isMeant(call))
    for (const command of commands) this.#commands.delete(command)
    await Promise.all(commands.map((command) => command.forget()))
  }
}

function closed(cause?: unknown): ToolError {
  return new ToolError('ABORTED', 'The run was closed while its command was being started.', { cause })
}
