import type { Capability, Targets } from '../../../define.ts'
import { pointerKeys, valueAt } from '../../../value/json-pointer.ts'
import type { IsolatedDefinition } from './messages.ts'

type Declared = NonNullable<IsolatedDefinition['targets']>

/**
 * The targets of a call, read out of its input at the places that the tool names: `{ 'write:fs': '/path' }`. Where no text
 * stands there, the capability is judged without a target, which is the strictest. For commands a list is one command.
 */
export function declaredTargets(declared: Declared, input: unknown): Targets {
  const targets: Partial<Record<Capability, unknown>> = {}
  for (const [capability, pointers] of Object.entries(declared) as [Capability, string | string[]][]) {
    const values = [pointers].flat().map((pointer) => valueAt(input, pointerKeys(pointer)))
    const found = capability === 'exec' ? commandOf(values) : textsOf(values)
    if (found !== undefined) targets[capability] = found
  }
  return targets as Targets
}

function textsOf(values: readonly unknown[]): string[] | undefined {
  const texts = values.flat()
  return texts.length > 0 && texts.every((text) => typeof text === 'string') ? texts : undefined
}

function commandOf([value, ...others]: readonly unknown[]): unknown {
  if (others.length > 0) return undefined
  if (typeof value === 'string') return { command: value }
  const words = textsOf([value])
  return Array.isArray(value) && words ? { argv: words } : undefined
}
