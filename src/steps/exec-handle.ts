import type { Commands } from '../commands.ts'
import type { CommandCall, CommandNetwork, OutputFile } from '../guards/process/command-call.ts'
import type { Call } from './call.ts'
import { holdToDecision } from './handles.ts'
import { markUntrusted } from './mark-untrusted.ts'
import type { Parts, RunState } from './parts.ts'
import { recordIntent } from './record.ts'

/** The commands of one call: what policy decided on, on record before it starts, with all it connects to. */
export function execHandle(parts: Parts, run: RunState, call: Call): Commands {
  const door = run.doors.process()
  const commands = door.handle(commandCall(parts, run, call))
  // What a tool leaves running when it returns would run on unseen; what it put into the background does.
  call.onStop(() => void door.endCall(call.id))
  return {
    ...commands,
    async start(request) {
      await recordIntent(parts, run, call)
      return commands.start(request)
    },
  }
}

function commandCall(parts: Parts, run: RunState, call: Call): CommandCall {
  const { records } = run
  const { id: callId, name: tool } = call
  const background = new Set<string>()
  return {
    callId,
    run: call.run,
    signal: () => call.signal,
    maxMs: call.decision?.constraints.timeoutMs,
    permits: (value) => holdToDecision(parts, run, call, 'exec', value),
    redact: () => parts.redactor.stream(),
    keepOutput: records && (() => shownInResult(records.openArtifact(), call)),
    connect: call.tool!.capabilities.has('network') ? networkOf(parts, run, call) : undefined,
    onSetAside: (path, movedTo) => tellSetAside(call, path, movedTo),
    async onBackground(id, line) {
      const command = parts.redactor.text(line)
      // A run with a command in the background is not idle.
      run.inFlight++
      background.add(id)
      await parts.processes.add({
        id,
        run: call.run,
        callId,
        command,
        startedAt: new Date(parts.clock.now()).toISOString(),
      })
      records?.append({ type: 'process-started', callId, tool, process: id, command })
    },
    onEnded(id, _line, how) {
      if (!background.delete(id)) return
      run.inFlight--
      records?.append({ type: 'process-ended', callId, tool, process: id, ...how })
      // What cannot be removed is told once more by the next hub, which does no harm.
      parts.processes.remove(id).catch(() => {})
    },
  }
}

/** Nobody hears a call that is over: then the owner does. */
function tellSetAside(call: Call, path: string, movedTo: string): void {
  const text = `The command made ${path}, which is protected; it is ${movedTo} now.`
  if (call.ended) process.emitWarning(text, 'ToolHubWarning')
  else call.notices.push(text)
}

/** Every host that a command reaches, or tries to, is judged as a request of the call's own and is on record under it. */
function networkOf(parts: Parts, run: RunState, call: Call): CommandNetwork {
  // A command is one thing: its first answer must not forbid it the second question.
  const atStart = { tainted: run.tainted }
  return {
    permits(url) {
      holdToDecision(parts, atStart, call, 'network', url)
      holdToDecision(parts, atStart, call, 'send', url)
    },
    onConnection(url, outcome) {
      run.records?.append({ type: 'command-connected', callId: call.id, tool: call.name, url, outcome })
      if (outcome.startsWith('connected')) markUntrusted(run, call)
    },
  }
}

/** What a call keeps is among the artifacts of its result; what comes later belongs to whoever asks for it. */
function shownInResult(file: OutputFile, call: Call): OutputFile {
  return {
    write: (bytes) => file.write(bytes),
    read: (offset, length) => file.read(offset, length),
    discard: () => file.discard(),
    async finish(options) {
      const artifact = await file.finish(options)
      if (!call.ended) call.artifacts.push(artifact)
      return artifact
    },
  }
}
