/** Whether two notes say the same, whatever their case and spaces. */
export function saysTheSame(a: string, b: string): boolean {
  return fold(a) === fold(b)
}

/** The ids of notes that say to the same readers what an older one says already; the list is newest first. */
export function findDuplicates(
  notes: readonly { readonly id: string; readonly key: string; readonly content: string }[],
): ReadonlySet<string> {
  const known = new Set<string>()
  const found = new Set<string>()
  for (const { id, key, content } of notes.toReversed()) {
    const words = JSON.stringify([key, fold(content)])
    if (known.has(words)) found.add(id)
    known.add(words)
  }
  return found
}

function fold(text: string): string {
  return text.toLowerCase().replaceAll(/\s+/g, ' ').trim()
}
