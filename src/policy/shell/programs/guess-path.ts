/** Says whether a word looks like a file or a folder, where nothing is known of the program. */
export function looksLikePath(word: string): boolean {
  return word.includes('/') || word === '.' || word === '..' || word.startsWith('~')
}

/** The file within a word that holds more than that: `--x=/etc/y`, `of=/etc/y`, `@/etc/y`, `-I/usr/include`. */
export function pathWithin(word: string): string | undefined {
  const inner = /^(?:-{0,2}[\w.-]+=|@|-\w(?=[/.~])|file:(?:\/\/)?)(.+)/is.exec(word)?.[1]
  return inner !== undefined && looksLikePath(inner) ? inner : undefined
}
