import { type Commands, ToolError } from '@tool-hub/core'
import type { CommandCall, CommandNetwork, CommandReach, OutputFile } from '@tool-hub/sandbox/exec'
import type { RunLaterChange, SetAside } from '@tool-hub/sandbox/protected'
import { isAtOrBelow, timeBefore, type UntrustedFiles } from '../../store/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, type JudgedCommand, refuseOnWorker, type ValidCall } from './call.ts'
import { decideNow, holdToDecision } from './decide.ts'
import { recordIntent, recordRunLater } from './record.ts'
import { labelCall, markUntrusted, writesUntrusted } from './taint.ts'

const MAX_REFUSALS = 200
const MAX_NOTICES = 5

/**
 * Creates the handle for commands of a call. It runs only commands that policy decided on, and records them and their
 * connections.
 */
export function execHandle(runtime: Runtime, run: RunState, decided: DecidedCall): Commands {
  const guard = run.sandbox.process()
  // Ends commands that are still running when the tool returns, except those that it started in the background.
  decided.call.onStop(() => void guard.endCall(decided.call.id))
  const commands = guard.handle(commandCall(runtime, run, decided))
  if (run.earlierCommands.size === 0) return commands
  return {
    ...commands,
    find(id) {
      // What it has written was not there to be seen when the taint was cleared.
      if (run.earlierCommands.has(id)) markUntrusted(run, decided.call, `output of the command ${id}`)
      return commands.find(id)
    },
  }
}

function commandCall(runtime: Runtime, run: RunState, decided: DecidedCall): CommandCall {
  const { records } = run
  const {
    call: { id: callId, name: tool },
  } = decided
  const background = new Set<string>()
  return {
    callId,
    run: decided.call.run,
    signal: () => decided.call.signal,
    maxMs: decided.decision.constraints.timeoutMs,
    beforeStart: () => recordIntent(runtime, run, decided.call),
    permits: (value, at) => {
      if (!isJudged(decided.valid, value, at)) holdToDecision(runtime, run, decided, 'exec', notJudged(value))
    },
    onReach: async (reach) => {
      await runtime.commands.hiddenValues.learn(reach.hidden)
      return runtime.commands.taint.enter(run, decided.call, reach)
    },
    redact: () => runtime.redactor.stream(),
    keepOutput: records?.openArtifact && (() => shownInResult(records.openArtifact!(), decided.call)),
    connect: decided.tool.capabilities.has('network') ? networkOf(runtime, run, decided) : undefined,
    onSetAside: (moved) => notice(runtime, run, decided.call, describeSetAside(moved)),
    onReport: (text) => notice(runtime, run, decided.call, text),
    onRunLater: (changed) => noticeRunLater(runtime, run, decided.call, changed),
    async onBackground(id, line) {
      const command = runtime.redactor.text(line)
      refuseOnWorker(run, decided.call, 'leave a command in the background')
      // A run with a background command is not idle.
      run.inFlight++
      background.add(id)
      run.backgroundCommands.add(id)
      await runtime.commands.processes.add({
        id,
        run: decided.call.run,
        callId,
        command,
        startedAt: new Date(runtime.clock.now()).toISOString(),
      })
      records?.append({ type: 'process-started', callId, tool, process: id, command })
    },
    onEnded(id, _line, how) {
      if (!background.delete(id)) return
      run.inFlight--
      records?.append({ type: 'process-ended', callId, tool, process: id, ...how })
      // If this fails, the next hub reports the command once more, which does no harm.
      runtime.commands.processes.remove(id).catch(() => {})
    },
  }
}

/** Returns whether policy decided on this command line in this folder with no other variables. */
function isJudged({ commands }: ValidCall, value: string, { cwd, env }: Omit<JudgedCommand, 'value'>): boolean {
  return commands.some(
    (judged) => judged.value === value && judged.cwd === cwd && env.every((name) => judged.env.includes(name)),
  )
}

/** The value for a command line that policy did not decide on, because folder or variables differ. */
function notJudged(value: string): string {
  return `${value} `
}

/** Adds a notice to the call. If the call has ended, records it and warns the owner instead. */
function notice({ redactor }: Runtime, { records }: RunState, call: Call, text: string): void {
  const shown = redactor.text(text)
  if (!call.ended) return void call.report.notices.push(shown)
  records?.append({ type: 'call-noticed', callId: call.id, tool: call.name, notice: shown })
  process.emitWarning(shown, 'ToolHubWarning')
}

function describeSetAside({ path, movedTo, problem, reason }: SetAside): string {
  const outcome =
    problem === undefined ? `it was renamed to ${movedTo}` : `it could not be renamed (${problem}), so check it`
  const found = reason === undefined ? `created ${path}, which is protected` : `wrote ${path}, which ${reason}`
  return `A command ${found}; ${outcome}.`
}

/** Adds a notice to the call, and a line to the record. */
function noticeRunLater(runtime: Runtime, run: RunState, call: Call, changed: readonly RunLaterChange[]): void {
  for (const { path, by } of changed) {
    call.runLater.set(path, by)
    notice(runtime, run, call, `A command changed ${path}, which is run or obeyed later by ${by}.`)
  }
  if (run.records) recordRunLater(runtime, run.records, call)
}

/** Every connection of a command, even one that is refused, is decided and recorded like a request of the call itself. */
function networkOf(runtime: Runtime, run: RunState, decided: DecidedCall): CommandNetwork {
  let refusals = 0
  return {
    permits(url) {
      for (const capability of ['network', 'send'] as const) {
        // The first response that a command receives must not forbid its own next request.
        const taint = { tainted: run.taintedBeside(decided.call.id) }
        const { effect, rule, fix } = decideNow(runtime, taint, decided, capability, url)
        if (effect !== 'allow') throw new ToolError('POLICY_DENIED', `${url} is not allowed by ${rule}.`, { fix })
      }
    },
    onConnection(url, outcome) {
      const isConnected = outcome.startsWith('connected')
      // A command that retries a thousand times must not fill the disk with refusals.
      if (!isConnected && ++refusals > MAX_REFUSALS) return
      run.records?.append({
        type: 'command-connected',
        callId: decided.call.id,
        tool: decided.call.name,
        url: url.slice(0, 2_000),
        outcome,
      })
      if (isConnected) markUntrusted(run, decided.call, url)
      else if (!decided.call.ended && refusals <= MAX_NOTICES)
        decided.call.report.notices.push(`${url.slice(0, 200)}: ${outcome}`)
    },
  }
}

/** Lists the output file among the artifacts of the result, unless the call has ended. */
function shownInResult(file: OutputFile, call: Call): OutputFile {
  return {
    write: (bytes) => file.write(bytes),
    read: (offset, length) => file.read(offset, length),
    discard: () => file.discard(),
    async finish(options) {
      const artifact = await file.finish(options)
      if (!call.ended) call.report.artifacts.push(artifact)
      return artifact
    },
  }
}

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
