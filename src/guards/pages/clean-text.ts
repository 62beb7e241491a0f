/** What joins letters or emoji stays where it does so: between two that are not ASCII. */
const JOINER = String.raw`(?<=[^\p{ASCII}\p{Cf}])[\u200c\u200d](?=[^\p{ASCII}\p{Cf}])`

/**
 * Controls but tab and line break, format characters (zero-width, bidi, tags), half surrogates, fillers that show
 * nothing, and the variation selectors that can carry bytes.
 */
const INVISIBLE = String.raw`[^\P{Cc}\t\n]|\p{Cf}|\p{Cs}|[\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u3164\uffa0\u{e0100}-\u{e01ef}]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]`

const JOINER_OR_INVISIBLE = new RegExp(`(${JOINER})|${INVISIBLE}`, 'gu')

/** Takes out what a person does not see and a model reads: such characters carry hidden orders. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(JOINER_OR_INVISIBLE, '$1')
}

/** The same on one line. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim()
}

/** At most one empty line in a row, no blanks at line ends, none around the whole. */
export function tidyLines(text: string): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const trimmed = line.trimEnd()
    if (trimmed !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(trimmed)
  }
  if (lines.at(-1) === '') lines.pop()
  return lines.join('\n')
}
