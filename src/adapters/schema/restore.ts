/** Where nulls stand for what was left out, by the shape of the arguments. */
export type Plan =
  | { readonly kind: 'object'; readonly dropped: ReadonlySet<string>; readonly below: ReadonlyMap<string, Plan> }
  | { readonly kind: 'array'; readonly items: Plan }
  | { readonly kind: 'union'; pick(value: object): Plan | undefined }
  /** Known once the whole schema is. */
  | { readonly kind: 'reference'; readonly target: { readonly plan?: Plan } }

/** Deeper than any arguments that a hub takes. */
const MAX_DEPTH = 1_000

/** Takes the nulls away that stand for nothing; never changes what it is given. */
export function restore(value: unknown, plan: Plan | undefined, depth = 0): unknown {
  if (plan === undefined || typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value
  switch (plan.kind) {
    case 'reference':
      return restore(value, plan.target.plan, depth + 1)
    case 'union':
      return restore(value, plan.pick(value), depth + 1)
    case 'array':
      return Array.isArray(value) ? value.map((item) => restore(item, plan.items, depth + 1)) : value
    case 'object':
      return Array.isArray(value) ? value : restoreObject(value, plan, depth)
  }
}

function restoreObject(value: object, { dropped, below }: Plan & { kind: 'object' }, depth: number): object {
  const record = value as Readonly<Record<string, unknown>>
  const changed = new Map<string, unknown>()
  for (const [key, plan] of below) {
    if (!Object.hasOwn(record, key)) continue
    const part = restore(record[key], plan, depth + 1)
    if (part !== record[key]) changed.set(key, part)
  }
  const isDropped = (key: string) => record[key] === null && dropped.has(key)
  const keys = Object.keys(record)
  if (changed.size === 0 && !keys.some(isDropped)) return value
  const entries = keys
    .filter((key) => !isDropped(key))
    .map((key) => [key, changed.has(key) ? changed.get(key) : record[key]])
  // Defines keys, so that one named __proto__ stays a key.
  return Object.fromEntries(entries)
}
