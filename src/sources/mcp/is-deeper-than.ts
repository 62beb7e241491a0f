/** Whether a value of JSON is nested deeper than that; never deep itself, whatever it is given. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue
    if (next.depth >= limit) return true
    const depth = next.depth + 1
    for (const part of Object.values(next.value)) {
      if (typeof part === 'object' && part !== null) waiting.push({ value: part, depth })
    }
  }
  return false
}
