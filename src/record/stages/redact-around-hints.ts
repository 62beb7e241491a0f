import { redactShapes, SECRET_HINT } from '../secret-shapes.ts'
import { afterSeparator } from './shape-boundaries.ts'

const HINT = new RegExp(SECRET_HINT, 'g')
/** Behind a hint: blanks, and the word that follows or that the hint is in. */
const REST = /[\t-\r "'<>]*[^\t-\r "'<>]*/y
/** With more of them, it takes less time to look at all that is left as one. */
const MOST_PLACES = 64

/** Takes shapes out of a text of Latin-1 by looking closer only where something hints at one: the same text where nothing does. */
export function redactAroundHints(text: string): string {
  let output = ''
  let done = 0
  HINT.lastIndex = 0
  for (let places = 1, hint = HINT.exec(text); hint; places++) {
    const start = Math.max(done, afterSeparator(text, hint.index))
    let end = text.length
    if (places === MOST_PLACES) hint = null
    else ({ end, hint } = endOfPlace(text))
    output += text.slice(done, start) + redactPlace(text.slice(start, end))
    done = end
  }
  return done === 0 ? text : output + text.slice(done)
}

/** Where the word of the last hint ends, with those of all hints within; and the first hint behind it. */
function endOfPlace(text: string): { end: number; hint: RegExpExecArray | null } {
  let end = HINT.lastIndex
  for (;;) {
    // A hint that ends before is in the same word; one that ends here, such as `Bearer `, is about the next.
    if (HINT.lastIndex >= end) {
      REST.lastIndex = HINT.lastIndex
      REST.exec(text)
      end = REST.lastIndex
    }
    const hint = HINT.exec(text)
    if (!hint || hint.index >= end) return { end, hint }
  }
}

/** In Latin-1 the byte A0, a part of many letters, would be a blank: a letter stands in for it. */
function redactPlace(text: string): string {
  if (!text.includes('\xa0')) return redactShapes(text)
  return redactShapes(text.replaceAll('\xa0', '\u01a0')).replaceAll('\u01a0', '\xa0')
}
