import type { CallEvent, Capability, Change, ResolvedTarget } from '@tool-hub/core'
import { statsIfThere } from '@tool-hub/sandbox/system'
import type { FileLabel, UntrustedFiles } from '../../store/index.ts'
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
