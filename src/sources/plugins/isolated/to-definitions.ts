import type { ProgramFence } from '../../../commands.ts'
import type { Capability } from '../../../define.ts'
import { type IsolatedDefinition, isolatedDefinition } from './messages.ts'

/** The tools of a plugin as it described them, and what is wrong with the others. */
export function toDefinitions(
  described: readonly unknown[],
  fence: ProgramFence,
): { readonly definitions: readonly IsolatedDefinition[]; readonly problems: readonly string[] } {
  const definitions: IsolatedDefinition[] = []
  const problems: string[] = []
  for (const [index, each] of described.entries()) {
    const parsed = isolatedDefinition.safeParse(each)
    if (parsed.success) definitions.push(withFence(parsed.data, fence))
    else {
      const [issue] = parsed.error.issues
      problems.push(`the tool ${nameOf(each) ?? index + 1} is left out: ${issue?.path.join('.')} ${issue?.message}`)
    }
  }
  return { definitions, problems }
}

/** What its process can do past the doors of the hub, every one of its tools can, and nobody is told on what. */
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
