import type { CommandReach } from '../../sandbox/exec/index.ts'
import { isWithin, timeBefore, type UntrustedFiles } from '../../store/index.ts'
import type { Call } from './call.ts'
import { labelCall } from './mark-untrusted.ts'
import type { RunState } from './parts.ts'

/** A command that runs, or is about to. */
interface Tracked {
  readonly run: RunState
  readonly call: Call
  readonly reach: CommandReach
  /** Absent until it is about to start. */
  startedAt: number | undefined
  /** All that is changed where it can write is being labelled. */
  writing: string | undefined
}

/** Not the id of a call: the command itself is judged as one of a tainted run, too. */
const FROM_FILES = 'files that a command could read'

/**
 * Carries taint through commands: the run of a command that can read a labelled file is tainted, and what a command of a
 * tainted run changes is labelled. What a command has really read nobody knows, so what it could read counts.
 */
export class CommandTaint {
  readonly #untrusted: UntrustedFiles
  readonly #running = new Set<Tracked>()

  constructor(untrusted: UntrustedFiles) {
    this.#untrusted = untrusted
    untrusted.onLabel = (path) => {
      for (const command of this.#running)
        if (canSee(command.reach, path)) taint(command, `${path}, which holds content from outside`)
    }
  }

  /** Before a command starts. Resolves, when its labels survive a loss of power, to a function for when it has ended. */
  async enter(run: RunState, call: Call, reach: CommandReach): Promise<() => void> {
    const command: Tracked = { run, call, reach, startedAt: undefined, writing: undefined }
    const stopListening = run.onTaint(() => this.#label(command))
    const leave = () => {
      stopListening()
      this.#running.delete(command)
      if (command.writing !== undefined) this.#untrusted.end(command.writing, reach.writes)
    }
    this.#running.add(command)
    try {
      const reason = await this.#reasonFor(reach)
      if (reason !== undefined) taint(command, reason)
      if (run.tainted) this.#label(command)
      await this.#untrusted.synced()
      command.startedAt = timeBefore(reach.writes)
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }

  async #reasonFor(reach: CommandReach): Promise<string | undefined> {
    if (reach.sandbox === 'none') return 'all that this machine can reach, because there is no sandbox'
    const [root] = reach.untrusted
    if (root !== undefined) return `${root}, a root that is marked untrusted`
    const found = await this.#untrusted.find(reach)
    return found === undefined ? undefined : `${found}, which holds content from outside`
  }

  /** From now on what it changes is labelled, and who can see that is tainted. */
  #label(command: Tracked): void {
    if (command.writing !== undefined) return
    const { writes } = command.reach
    // One that runs already may have mapped files into its memory, which get no new time at every write.
    command.writing = this.#untrusted.begin(writes, command.startedAt)
    for (const other of this.#running) {
      const shared = writes.find((folder) => canSee(other.reach, folder))
      if (shared === undefined || other === command) continue
      if (other.run === command.run) labelCall(other.call)
      else taint(other, `${shared}, where a command of a tainted run writes at the same time`)
    }
  }
}

function canSee({ sees, hidden }: CommandReach, path: string): boolean {
  const isInside = (folder: string) => isWithin(path, folder)
  return sees.some((folder) => isInside(folder) || isWithin(folder, path)) && !hidden.some(isInside)
}

function taint({ run, call }: Tracked, what: string): void {
  const isNew = !run.tainted
  if (!run.taintedBeside(call.id)) run.taint(FROM_FILES)
  labelCall(call)
  if (!isNew) return
  run.records?.append({ type: 'command-tainted', callId: call.id, tool: call.name, reason: what })
  if (!call.ended) call.notices.push(`The command could read ${what}. The run counts as tainted: sending data asks.`)
}
