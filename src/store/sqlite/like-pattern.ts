/** A pattern for `LIKE … ESCAPE '!'` that finds the text anywhere, its own `%` and `_` taken by their letter. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[!%_]/g, '!$&')}%`
}
