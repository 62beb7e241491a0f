import type { Capability, ResolvedTarget, Targets } from '../define.ts'
import { ToolError } from '../errors.ts'
import type { FilesGuard } from '../guards/files/files-guard.ts'
import type { NetworkGuard } from '../guards/network/network-guard.ts'
import type { Call } from './call.ts'

/** The doors that turn what a tool says into what would really be touched. */
export interface Doors {
  files(): FilesGuard
  network(): NetworkGuard
}

const NOTHING: readonly ResolvedTarget[] = Object.freeze([])
const MOST_TARGETS = 1_000

/** Step 4: what this call will touch, by real path and normal URL. Says no when a door says no. */
export function resolveTargets(call: Call, doors: Doors): readonly ResolvedTarget[] {
  const { tool, capabilities } = call.tool!
  if (!tool.targets) return NOTHING
  const stated = Object.entries(statedTargets(call, tool.targets)).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => ({ capability: name as Capability, value })),
  )
  if (stated.length > MOST_TARGETS) throw tooMany(stated.length)
  return stated.map(({ capability, value }) => {
    if (!capabilities.has(capability)) throw undeclared(call, capability)
    return { capability, value: realTarget(call, capability, value, doors) }
  })
}

function tooMany(count: number): ToolError {
  const message = `The call touches ${count} targets, at most ${MOST_TARGETS} are judged at once.`
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Split the call.' })
}

function statedTargets(call: Call, targets: (input: unknown) => Targets): Targets {
  const stated = targets(call.input)
  if (stated !== null && typeof stated === 'object') return stated
  throw new ToolError('INTERNAL', `targets() of ${call.name} returned no object.`)
}

function realTarget(call: Call, capability: Capability, value: unknown, doors: Doors): string {
  if (typeof value !== 'string') {
    throw new ToolError('INPUT_SCHEMA_INVALID', `A target of ${capability} must be a string, got ${typeof value}.`)
  }
  switch (capability) {
    case 'read:fs':
      return doors.files().resolve(value, 'read')
    case 'write:fs':
      return doors.files().resolve(value, 'write')
    case 'network':
      return doors.network().resolve(value)
    case 'danger:destructive':
      // Destroying files is a matter of paths; destroying anything else is named as the tool names it.
      return call.tool!.capabilities.has('write:fs') ? doors.files().resolve(value, 'write') : value
    default:
      return value
  }
}

function undeclared(call: Call, capability: string): ToolError {
  return new ToolError('INTERNAL', `targets() of ${call.name} names ${capability}, which the tool does not declare.`)
}
