/** Whether two notes have the same text, ignoring case and whitespace. */
export function saysTheSame(a: string, b: string): boolean {
  return fold(a) === fold(b)
}

/** The ids of notes with the same text and readers as an older one; the list is sorted newest first. */
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

/** Parses tags separated by commas, without duplicates. */
export function readTags(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim().replace(/^#/, ''))
  return [...new Set(tags.filter((tag) => tag !== ''))]
}
