const LONGEST_KEY = 40
const LONGEST_POINTER = 200

/** A JSON pointer (RFC 6901) for a message: quoted, so that odd keys do no harm, and never long. */
export function jsonPointer(path: readonly string[]): string {
  const pointer = path
    .map((key) => `/${shorten(key, LONGEST_KEY).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
  return JSON.stringify(shorten(pointer, LONGEST_POINTER))
}

function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`
}
