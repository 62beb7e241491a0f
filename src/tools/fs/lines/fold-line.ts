/** Characters that look alike and that models mix up; each is one UTF-16 unit, so folding moves nothing. */
const ALIKE: ReadonlyMap<string, string> = new Map([
  ...alike("'", '\u2018\u2019\u201a\u201b\u2032'),
  ...alike('"', '\u201c\u201d\u201e\u201f\u2033'),
  ...alike('-', '\u2010\u2011\u2012\u2013\u2014\u2015\u2212'),
  ...alike(' ', '\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000'),
])

const LOOKS_ALIKE = new RegExp(`[${[...ALIKE.keys()].join('')}]`, 'g')

/** Writes quotes, dashes and spaces of all kinds in their plain form; the length stays. */
export function foldCharacters(text: string): string {
  return text.replace(LOOKS_ALIKE, (character) => ALIKE.get(character)!)
}

/** A line without the blanks at its end; the `\r` of a Windows line end is one. */
export function stripEnd(line: string): string {
  let end = line.length
  while (end > 0 && isBlank(line.charCodeAt(end - 1))) end--
  return end === line.length ? line : line.slice(0, end)
}

/** The blanks that a line begins with. */
export function indentOf(line: string): string {
  let end = 0
  while (end < line.length && isBlank(line.charCodeAt(end))) end++
  return line.slice(0, end)
}

/** The lines of a text in their plain form, without the blanks around them. */
export function bareLines(text: string): string[] {
  return foldCharacters(text)
    .split('\n')
    .map((line) => stripEnd(line).slice(indentOf(line).length))
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0d
}

function alike(plain: string, others: string): [string, string][] {
  return [...others].map((other) => [other, plain])
}
