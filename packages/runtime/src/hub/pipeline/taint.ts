import type { CallEvent, Capability, Change, ResolvedTarget } from '@tool-hub/core'
import type { CommandReach } from '@tool-hub/sandbox/exec'
import { statsIfThere } from '@tool-hub/sandbox/system'
import { type FileLabel, isAtOrBelow, timeBefore, type UntrustedFiles } from '../../store/index.ts'
import type { RunState } from '../run-state.ts'
import { type Call, type DecidedCall, emitEvent, type HubListeners, type ValidCall } from './call.ts'

/** What labels the files of a hub. */
interface FileLabels {
  readonly untrusted: UntrustedFiles
}

/**
 * Whether what a call writes now is untrusted: the one answer for files, commands, notes, canvases, schedules, messages and
 * sessions. The run counts, not the call alone, because the model carries content from one call to the next. Ask at the
 * moment of writing: another call may have tainted the run since this one was decided.
 */
export function writesUntrusted(
  { tainted }: Pick<RunState, 'tainted'>,
  { report }: { readonly report: Pick<Call['report'], 'isUntrusted'> },
): boolean {
  return tainted || report.isUntrusted
}

/**
 * Marks the run as tainted and the result as untrusted, because the call has read content from outside. Default source: the
 * hosts and systems that the call names, or its tool.
 */
export function markUntrusted(run: RunState, call: Call, source?: string): void {
  const named = source === undefined ? (call.valid?.targets.filter(isOutside) ?? []) : []
  for (const { value } of named) run.taint(call.id, outsideSource(value))
  if (named.length === 0) run.taint(call.id, source === undefined ? toolSource(call) : outsideSource(source))
  labelCall(call)
}

/** Marks the result of the call, and those of its parent calls, as untrusted. */
export function labelCall(call: Call): void {
  for (let reader: Call | undefined = call; reader; reader = reader.parent) reader.report.isUntrusted = true
}

/** Called with a link that a path of the call leads over: its text reaches the caller, if only in an error. */
export function markLink(
  { untrusted }: FileLabels,
  run: RunState,
  call: Call,
  link: string,
  isUntrusted: boolean,
): void {
  if (isUntrusted || untrusted.has(link)) markUntrusted(run, call, link)
}

/** Whether what the tool of a call returns or reports counts as content from outside, whatever it does. */
export function isFromOutside({ found, valid }: Call): boolean {
  const { results } = found?.tool.tool ?? {}
  if (results !== undefined) return results === 'outside'
  const { capabilities } = valid ?? {}
  return capabilities !== undefined && (capabilities.includes('network') || capabilities.includes('remote'))
}

/** Called before something leaves a call that still runs: a message of a server is content from outside like its result. */
export function markEarly(labels: FileLabels, run: RunState, call: Call): void {
  followLabels(labels, call)
  if (!call.report.isUntrusted && isFromOutside(call)) markUntrusted(run, call)
}

/** Emits what a call reports before its end, in order: when the taint that it brings is kept as safely as with its result. */
export function emitEarly(hub: FileLabels & HubListeners, run: RunState, call: Call, event: CallEvent): void {
  markEarly(hub, run, call)
  const keeping = run.keptTaint?.isDurable === false ? run.keptTaint.synced() : undefined
  const emit = () => emitEvent(hub, call, event)
  if (!keeping && !call.reporting) emit()
  // If the taint cannot be kept, the call ends with that error.
  else call.reporting = Promise.all([call.reporting, keeping]).then(emit, () => {})
}

/** Called before something leaves a call that runs commands: they may have read what other processes have labelled since. */
export function followLabels({ untrusted }: FileLabels, { found }: Call): void {
  if (found?.tool.capabilities.has('exec')) untrusted.follow()
}

/**
 * Labels what a change leaves behind, for later runs too, and moves labels with their files. Called before the change
 * happens; resolves when its labels survive a loss of power.
 */
export function labelChange(
  { untrusted }: FileLabels,
  run: RunState,
  call: Call,
  change: Change,
): Promise<void> | undefined {
  const labels = labelsOf(untrusted, writesUntrusted(run, call), change)
  untrusted.addAll(labels)
  run.hold.guest?.onLabel(labels)
  return untrusted.synced()
}

function labelsOf(untrusted: UntrustedFiles, isUntrusted: boolean, change: Change): readonly FileLabel[] {
  const { op, path } = change
  switch (op) {
    case 'remove-folder':
      return []
    case 'make-folder':
      // A label on the folder itself would cover every file that is created there later.
      return isUntrusted ? [{ named: path }] : []
    // Undo restores the content, with another modification time.
    case 'remove':
      return untrusted.has(path) ? [path] : []
    case 'remove-tree':
      return untrusted.holds(path) ? [path] : []
    case 'move': {
      const { to } = change
      if (untrusted.holds(path)) return [...untrusted.movedTo(path, to), to]
      if (!isUntrusted) return untrusted.movedTo(path, to)
      // The content of a folder stays what it was; only its name is new.
      return statsIfThere(path)?.isDirectory() ? [...untrusted.movedTo(path, to), { named: to }] : [to]
    }
    default:
      return isUntrusted || untrusted.has(path) ? [path] : []
  }
}

/**
 * Taints the run of a call for a worker if it may read files that are untrusted by the labels of this machine: they may use
 * the same disk, and each has its own labels.
 */
export async function markReadable(
  { untrusted }: FileLabels,
  run: RunState,
  { call, valid }: DecidedCall,
): Promise<void> {
  const paths = pathsOf(valid, ['read:fs', 'write:fs'])
  const folder = valid.commands.length > 0 ? run.sandbox.files().resolve('.', 'read') : undefined
  const found =
    paths.find((path) => untrusted.holds(path)) ?? (folder && (await untrusted.find({ sees: [folder], hidden: [] })))
  if (found !== undefined) markUntrusted(run, call, found)
}

/** Labels what a call may have written on a worker that was lost. */
export function labelLost({ untrusted }: FileLabels, run: RunState, { call, valid }: DecidedCall): void {
  if (writesUntrusted(run, call) || isFromOutside(call)) untrusted.addAll(pathsOf(valid, ['write:fs']))
}

function pathsOf({ targets }: ValidCall, capabilities: readonly Capability[]): string[] {
  return targets.filter(({ capability }) => capabilities.includes(capability)).map(({ value }) => value)
}

/** Returns the tool, as a target where it is one of an MCP server: `mcp:mail/get_unread`. */
function toolSource({ name }: Call): string {
  return name.replace(/^mcp\/([\w-]+)\./, 'mcp:$1/')
}

function isOutside({ capability }: ResolvedTarget): boolean {
  return capability === 'network' || capability === 'remote'
}

/** Returns the origin of a URL, because the rest may be long or secret, and any other source as it is. */
function outsideSource(source: string): string {
  return /^(https?|wss?):/i.test(source) && URL.canParse(source) ? new URL(source).origin : source
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
