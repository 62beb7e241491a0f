import { basename } from 'node:path'
import { ToolError } from '@tool-hub/core'
import type { Decision } from '@tool-hub/policy'
import { isManifest, mayRunLater } from '@tool-hub/sandbox/files'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { type PreviewedChanges, previewChanges } from './approval-views/diff-views.ts'
import type { Call, DecidedCall, ValidCall } from './call.ts'

/** A file that the call would change, and why a person has to agree. */
interface Planned {
  readonly path: string
  readonly by: string
}

/**
 * Tightens `allow` to `ask` for a call that would change what git hooks or package managers run or obey later. Returns a
 * promise only for a package.json, of which some keys matter: its new content is compared with the present one.
 */
export function askForRunLater(runtime: Runtime, run: RunState, decided: DecidedCall): Promise<void> | undefined {
  if (decided.effect === 'deny' || decided.tool.origin === 'owner') return undefined
  const paths = writtenPaths(decided.valid)
  if (paths.length === 0) return undefined
  const plain = paths.filter((path) => !isManifest(path))
  tighten(decided, findIn(run, decided.call, plain))
  const manifests = paths.filter(isManifest)
  if (manifests.length === 0) return undefined
  return previewChanges(runtime, run, decided)
    .catch(() => [])
    .then((changes) => tighten(decided, findIn(run, decided.call, manifests, changes)))
}

/**
 * Checks a file at the moment of use that the call did not name, such as one in a folder that it moves: throws POLICY_DENIED
 * if other programs run or obey it later and nobody has approved the call.
 */
export function holdRunLater(run: RunState, { call, tool, valid }: DecidedCall, path: string): void {
  // The content of a package.json in a folder was decided on when it was written there.
  if (tool.origin === 'owner' || isManifest(path) || !mayRunLater(basename(path))) return
  const found = run.sandbox.files().runsLater(path)
  if (!found) return
  call.runLater.set(path, found.by)
  if (!found.asks || call.approvedBy !== undefined || writtenPaths(valid).includes(path)) return
  throw new ToolError(
    'POLICY_DENIED',
    `${call.name} may not write ${path} without approval: it is run or obeyed later by ${found.by}.`,
    {
      hint: 'Write this file in a call of its own, which a person can approve.',
    },
  )
}

function writtenPaths({ targets }: ValidCall): string[] {
  const paths = new Set<string>()
  for (const { capability, value } of targets) if (capability === 'write:fs') paths.add(value)
  return [...paths]
}

/** Returns the files for which a person has to agree; remembers all that run later. */
function findIn(
  run: RunState,
  call: Call,
  paths: readonly string[],
  changes: PreviewedChanges = [],
): readonly Planned[] {
  const files = run.sandbox.files()
  return paths.flatMap((path) => {
    // A change of several files names each as the caller wrote it.
    const change = changes.find(({ path: named, movedTo }) => leadsTo(files, movedTo ?? named, path))
    // What is moved there replaces whatever the place has now.
    const before = change?.movedTo === undefined ? change?.before : undefined
    const found = files.runsLater(path, change && { before, after: change.after })
    if (!found) return []
    call.runLater.set(path, found.by)
    return found.asks ? [{ path, by: found.by }] : []
  })
}

function leadsTo(files: ReturnType<RunState['sandbox']['files']>, named: string, path: string): boolean {
  if (basename(named) !== basename(path)) return false
  try {
    return files.resolve(named, 'write') === path
  } catch {
    // The call itself reports what is wrong with it.
    return false
  }
}

function tighten(decided: DecidedCall, planned: readonly Planned[]): void {
  const [first] = planned
  if (!first) return
  const more = planned.length > 1 ? ` (and ${planned.length - 1} more)` : ''
  const reason = `${first.path}${more} is run or obeyed later, outside of the sandbox, by ${first.by}.`
  const { decision } = decided
  decided.decision =
    decision.effect === 'ask' ? { ...decision, reason: `${decision.reason} ${reason}` } : asking(decision, reason)
  decided.effect = 'ask'
}

function asking(decision: Decision, reason: string): Decision {
  return {
    ...decision,
    effect: 'ask',
    rule: 'default: what runs later asks',
    source: 'built in',
    layer: 'fallback',
    reason,
    fix: { hint: 'Approve the call when asked, or let the owner change the file.' },
  }
}
