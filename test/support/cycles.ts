/** The groups of nodes of which each can be reached from each other, the largest first (Tarjan). */
export function cyclesOf(next: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const index = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const cycles: string[][] = []
  const visit = (node: string): number => {
    const own = index.size
    index.set(node, own)
    let low = own
    path.push(node)
    for (const other of next.get(node) ?? []) {
      if (!index.has(other)) low = Math.min(low, visit(other))
      else if (lowest.get(other) === undefined) low = Math.min(low, index.get(other)!)
    }
    // Nothing before it was reached: what is on the path since it is one group.
    if (low === own) {
      const group = path.splice(path.indexOf(node))
      for (const member of group) lowest.set(member, own)
      if (group.length > 1) cycles.push(group)
    }
    return low
  }
  for (const node of next.keys()) if (!index.has(node)) visit(node)
  return cycles.sort((one, other) => other.length - one.length)
}
