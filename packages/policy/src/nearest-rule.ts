import type { Bucket } from './compile-policy.ts'
import type { CompiledRule } from './compile-rule.ts'
import type { PolicyTarget } from './target.ts'

/** A search decides on many files: with more patterns than these, none is named as the nearest. */
const MAX_COMPARED = 100

/** A rule about other paths, with the absolute glob that its pattern stands for. */
export interface NearestRule {
  readonly rule: CompiledRule
  readonly glob: string
}

/** Finds the owner's allow of other paths whose glob has the longest beginning in common with this path. */
export function findNearestRule(buckets: readonly Bucket[], target: PolicyTarget | undefined): NearestRule | undefined {
  if (target?.kind !== 'path') return undefined
  const filed = buckets.flatMap(({ targeted }) => [...(targeted.get('path')?.values() ?? [])].flat())
  if (filed.length > MAX_COMPARED) return undefined
  let nearest: NearestRule | undefined
  let longest = -1
  for (const { rule, pattern } of filed) {
    const { glob } = pattern
    if (rule.effect !== 'allow' || rule.layer !== 'owner' || glob === undefined) continue
    const length = sharedLength(glob, target.value)
    if (length < longest || (length === longest && rule.order >= nearest!.rule.order)) continue
    nearest = { rule, glob }
    longest = length
  }
  return nearest
}

/** The rule and its glob as a sentence of a reason, after a blank; empty without a rule. */
export function describeNearest(nearest: NearestRule | undefined): string {
  return nearest ? ` The nearest one is ${nearest.rule.text}: it allows ${nearest.glob}.` : ''
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
