import type { ReadFiles } from '../../contracts/handles.ts'
import { ToolError } from '../../errors.ts'
import { decide } from '../../policy/decide.ts'
import type { Call } from '../call.ts'
import { question } from '../decide.ts'
import type { Parts, RunState } from '../parts.ts'

const OF_FILES: ReadonlySet<string> = new Set(['read:fs', 'write:fs', 'danger:destructive'])

/**
 * The files that a preview may look at: the targets of its call, as far as no rule keeps them from being read. It is the
 * hub that looks, for whoever is asked: the run has not read them, and is not tainted by what they hold.
 */
export function previewFiles(parts: Parts, run: RunState, call: Call, signal: AbortSignal): ReadFiles {
  const mayRead = (path: string) => isTarget(call, path) && !isKept(parts, run, call, path)
  const permits = (path: string) => {
    if (!mayRead(path)) throw new ToolError('PATH_DENIED', `A preview of ${call.name} may not read ${path}.`)
  }
  const only = { canRead: true, canWrite: false, canOverwrite: false }
  return run.doors.files().handle({ ...only, signal: () => signal, permits, mayRead }) as ReadFiles
}

function isTarget({ targets }: Call, path: string): boolean {
  return targets.some(
    ({ capability, value }) => OF_FILES.has(capability) && (path === value || path.startsWith(`${value}/`)),
  )
}

function isKept(parts: Parts, run: RunState, call: Call, path: string): boolean {
  const capability = 'read:fs'
  const targets = [{ capability, value: path }] as const
  // The grants of a call say what its tool may do, and not what an approver may see.
  const asked = { ...question(parts, run, call), grants: undefined, capabilities: [capability], targets } as const
  return decide(parts.policy, asked).effect === 'deny'
}
