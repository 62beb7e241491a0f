/** The tags of a line with commas, each once. */
export function readTags(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim().replace(/^#/, ''))
  return [...new Set(tags.filter((tag) => tag !== ''))]
}
