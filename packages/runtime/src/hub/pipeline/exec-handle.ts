import { type Commands, ToolError } from '@tool-hub/core'
import type { CommandCall, CommandNetwork, OutputFile } from '@tool-hub/sandbox/exec'
import type { RunLaterChange, SetAside } from '@tool-hub/sandbox/protected'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { type Call, type JudgedCommand, refuseOnWorker, type ValidCall } from './call.ts'
import type { CallAuthority } from './call-authority.ts'
import { recordRunLater } from './record.ts'

const MAX_REFUSALS = 200
const MAX_NOTICES = 5

/**
 * Creates the handle for commands of a call. It runs only commands that policy decided on, and records them and their
 * connections.
 */
export function execHandle(authority: CallAuthority): Commands {
  const { run, call } = authority
  const guard = run.sandbox.process()
  // Ends commands that are still running when the tool returns, except those that it started in the background.
  call.onStop(() => void guard.endCall(call.id))
  const commands = guard.handle(commandCall(authority))
  if (run.earlierCommands.size === 0) return commands
  return {
    ...commands,
    find(id) {
      // What it has written was not there to be seen when the taint was cleared.
      if (run.earlierCommands.has(id)) authority.taints(`output of the command ${id}`)
      return commands.find(id)
    },
  }
}

function commandCall(authority: CallAuthority): CommandCall {
  const { runtime, run, decided, call } = authority
  const { records } = run
  const { id: callId, name: tool } = call
  const background = new Set<string>()
  return {
    callId,
    run: call.run,
    signal: () => call.signal,
    maxMs: decided.decision.constraints.timeoutMs,
    beforeStart: () => authority.recordIntent(),
    permits: (value, at) => {
      if (!isJudged(decided.valid, value, at)) authority.permits('exec', notJudged(value))
    },
    onReach: async (reach) => {
      await runtime.commands.hiddenValues.learn(reach.hidden)
      return runtime.commands.taint.enter(run, call, reach)
    },
    redact: () => runtime.redactor.stream(),
    keepOutput: records?.openArtifact && (() => shownInResult(records.openArtifact!(), call)),
    connect: decided.tool.capabilities.has('network') ? networkOf(authority) : undefined,
    onSetAside: (moved) => notice(runtime, run, call, describeSetAside(moved)),
    onReport: (text) => notice(runtime, run, call, text),
    onRunLater: (changed) => noticeRunLater(runtime, run, call, changed),
    async onBackground(id, line) {
      const command = runtime.redactor.text(line)
      refuseOnWorker(run, call, 'leave a command in the background')
      // A run with a background command is not idle.
      run.inFlight++
      background.add(id)
      run.backgroundCommands.add(id)
      await runtime.commands.processes.add({
        id,
        run: call.run,
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
function networkOf(authority: CallAuthority): CommandNetwork {
  const { run, call } = authority
  let refusals = 0
  return {
    permits(url) {
      for (const capability of ['network', 'send'] as const) {
        const { effect, rule, fix } = authority.decideNext(capability, url)
        if (effect !== 'allow') throw new ToolError('POLICY_DENIED', `${url} is not allowed by ${rule}.`, { fix })
      }
    },
    onConnection(url, outcome) {
      const isConnected = outcome.startsWith('connected')
      // A command that retries a thousand times must not fill the disk with refusals.
      if (!isConnected && ++refusals > MAX_REFUSALS) return
      run.records?.append({
        type: 'command-connected',
        callId: call.id,
        tool: call.name,
        url: url.slice(0, 2_000),
        outcome,
      })
      if (isConnected) authority.taints(url)
      else if (!call.ended && refusals <= MAX_NOTICES) call.report.notices.push(`${url.slice(0, 200)}: ${outcome}`)
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
