import type { CommandReach } from '@tool-hub/sandbox/exec'
import { isAtOrBelow, timeBefore, type UntrustedFiles } from '../store/index.ts'
import type { Call } from './pipeline/call.ts'
import { labelCall, writesUntrusted } from './pipeline/taint.ts'
import type { RunState } from './run-state.ts'

/** A command that runs or is about to run. */
interface Tracked {
  readonly run: RunState
  readonly call: Call
  readonly reach: CommandReach
  /** `undefined` until the command is about to start. */
  startedAt: number | undefined
  /** Set while every change in the folders that the command can write is labelled. */
  writing: string | undefined
}

/** The origin of the taint. It is not a call id, so the command itself counts as one of a tainted run too. */
const FROM_FILES = 'files that a command could read'

/**
 * Propagates taint through commands: a command that can read a labelled file taints its run, and files that a command of a
 * tainted run changes are labelled. What a command really reads is unknown, so everything that it could read counts.
 */
export class CommandTaint {
  readonly #untrusted: UntrustedFiles
  readonly #running = new Set<Tracked>()

  constructor(untrusted: UntrustedFiles) {
    this.#untrusted = untrusted
    untrusted.onLabel = (path) => {
      for (const command of this.#running) if (canSee(command.reach, path)) taint(command, labelledFile(path))
    }
  }

  /** Called before a command starts. Resolves when its labels are durable, to a function to call when the command has ended. */
  async enter(run: RunState, call: Call, reach: CommandReach): Promise<() => void> {
    const command: Tracked = { run, call, reach, startedAt: undefined, writing: undefined }
    const stopListening = run.onTaint(() => this.#label(command))
    const leave = () => {
      try {
        this.#untrusted.follow()
      } finally {
        stopListening()
        this.#running.delete(command)
        const label = command.writing === undefined ? [] : [this.#untrusted.end(command.writing, reach.writes)]
        run.hold.guest?.onLabel(label)
      }
    }
    this.#running.add(command)
    try {
      const reason = await this.#reasonFor(reach)
      if (reason) taint(command, reason)
      if (writesUntrusted(run, call)) {
        const period = await this.#untrusted.beginFirst(reach.writes)
        // Another call may have labelled it meanwhile.
        if (command.writing === undefined) this.#label(command, period)
        else this.#untrusted.end(period, reach.writes)
      }
      await this.#untrusted.synced()
      command.startedAt = timeBefore(reach.writes)
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }

  async #reasonFor(reach: CommandReach): Promise<Reason | undefined> {
    if (reach.sandbox === 'none')
      return {
        source: 'a command without a sandbox',
        text: 'everything that this machine can reach, because commands run without a sandbox',
      }
    const [root] = reach.untrusted
    if (root !== undefined) return { source: root, text: `${root}, a root that is marked untrusted` }
    const found = await this.#untrusted.find(reach)
    return found === undefined ? undefined : labelledFile(found)
  }

  /** Labels everything that the command changes from now on, and taints the runs whose commands can read it. */
  #label(command: Tracked, period?: string): void {
    if (command.writing !== undefined) return
    const { writes } = command.reach
    // A running command may have mapped files into memory, whose modification time does not change with every write.
    command.writing = period ?? this.#untrusted.begin(writes, command.startedAt)
    for (const other of this.#running) {
      const shared = writes.find((folder) => canSee(other.reach, folder))
      if (shared === undefined || other === command) continue
      if (other.run === command.run) labelCall(other.call)
      else taint(other, { source: shared, text: `${shared}, where a command of a tainted run writes at the same time` })
    }
  }
}

function canSee({ sees, hidden }: CommandReach, path: string): boolean {
  const isInside = (folder: string) => isAtOrBelow(path, folder)
  return sees.some((folder) => isInside(folder) || isAtOrBelow(folder, path)) && !hidden.some(isInside)
}

/** What a command could read. */
interface Reason {
  readonly source: string
  /** The source in words, for the record and the caller. */
  readonly text: string
}

function labelledFile(path: string): Reason {
  return { source: path, text: `${path}, which holds content from outside` }
}

function taint({ run, call }: Tracked, { source, text: what }: Reason): void {
  const isNew = !run.tainted
  run.taint(run.taintedBeside(call.id) ? undefined : FROM_FILES, source)
  labelCall(call)
  if (!isNew) return
  run.records?.append({ type: 'command-tainted', callId: call.id, tool: call.name, reason: what })
  if (!call.ended)
    call.report.notices.push(`The command could read ${what}. The run is now tainted, so sending data needs approval.`)
}
