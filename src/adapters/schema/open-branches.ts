import type { JsonObject } from '../../core/schema/index.ts'
import type { Branch } from './pick-branch.ts'
import type { Plan } from './restore.ts'

/** A definition that references mean; both are there once it is written. */
export interface SchemaDefinition {
  readonly name: string
  schema?: JsonObject
  plan?: Plan
}

/** References to each other may stand for very many. */
const MAX_BRANCHES = 500

/** The branches of a union with their references and the unions in them opened; undefined when they are too many. */
export function openBranches(
  branches: readonly Branch[],
  definitions: Iterable<SchemaDefinition>,
): readonly Branch[] | undefined {
  const byReference = new Map(Array.from(definitions, (definition) => [`#/$defs/${definition.name}`, definition]))
  const waiting = [...branches]
  const opened: Branch[] = []
  for (let count = 0; waiting.length > 0; count++) {
    if (count > MAX_BRANCHES) return undefined
    const { schema, plan } = waiting.shift()!
    const target = byReference.get(String(schema.$ref))
    if (target?.schema) waiting.push({ schema: target.schema, plan: target.plan })
    else if (Array.isArray(schema.anyOf)) waiting.push(...schema.anyOf.map((one) => ({ schema: one, plan })))
    else opened.push({ schema, plan: hasWork(plan) ? plan : undefined })
  }
  return opened
}

/** False only where it is certain that values stay as they are. */
function hasWork(plan: Plan | undefined): boolean {
  if (plan?.kind === 'array') return hasWork(plan.items)
  if (plan?.kind === 'object') return plan.dropped.size > 0 || [...plan.below.values()].some(hasWork)
  return plan !== undefined
}
