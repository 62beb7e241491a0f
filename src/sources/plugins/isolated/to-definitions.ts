import { type Capability, messageOf, type ProgramFence } from '../../../core/index.ts'
import { withStop } from '../../../lib/index.ts'
import { refuseReservedName } from '../../client-tools/refuse-reserved-name.ts'
import { type IsolatedDefinition, isolatedDefinition } from './messages.ts'

/** The tools of a plugin as it described them, and what is wrong with the others. */
export function toDefinitions(
  described: readonly unknown[],
  fence: ProgramFence,
): { readonly definitions: readonly IsolatedDefinition[]; readonly problems: readonly string[] } {
  const definitions: IsolatedDefinition[] = []
  const problems: string[] = []
  for (const [index, each] of described.entries()) {
    try {
      definitions.push(withFence(toDefinition(each), fence))
    } catch (error) {
      problems.push(`the tool ${nameOf(each) ?? index + 1} is left out: ${messageOf(error)}`)
    }
  }
  return { definitions, problems }
}

function toDefinition(described: unknown): IsolatedDefinition {
  const parsed = isolatedDefinition.safeParse(described)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Error(withStop(`${issue?.path.join('.')} ${issue?.message}`))
  }
  refuseReservedName(parsed.data.name)
  return parsed.data
}

/** What its process can do past the doors of the hub, every one of its tools can, and nobody is notified on what. */
function withFence(definition: IsolatedDefinition, { hosts = [], writable = [] }: ProgramFence): IsolatedDefinition {
  const unseen: Capability[] = [
    ...(hosts.length > 0 ? (['network', 'send'] as const) : []),
    ...(writable.length > 0 ? (['write:fs'] as const) : []),
  ]
  if (unseen.length === 0) return definition
  const targets = Object.entries(definition.targets ?? {}).filter(([name]) => !unseen.includes(name as Capability))
  return {
    ...definition,
    capabilities: [...new Set([...definition.capabilities, ...unseen])],
    targets: Object.fromEntries(targets),
  }
}

function nameOf(described: unknown): string | undefined {
  if (typeof described !== 'object' || described === null || !('name' in described)) return undefined
  return typeof described.name === 'string' ? described.name.slice(0, 64) : undefined
}
