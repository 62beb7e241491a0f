import type { PageElement } from './dom.ts'

/** Elements that show no text of the page, whatever their attributes say. */
const NO_TEXT = new Set(
  (
    'SCRIPT STYLE TEMPLATE NOSCRIPT IFRAME FRAME FRAMESET OBJECT EMBED APPLET SVG MATH CANVAS AUDIO VIDEO MAP ' +
    'INPUT SELECT DATALIST TEXTAREA PROGRESS METER NOEMBED NOFRAMES PLAINTEXT PORTAL'
  ).split(' '),
)

/** Declarations with which a page hides an element. */
const HIDING: ReadonlyMap<string, RegExp> = new Map([
  ['display', /^none/],
  ['visibility', /^(hidden|collapse)/],
  ['content-visibility', /^hidden/],
  ['opacity', /^0*(\.0*)?%?( |!|$)/],
  ['font-size', /^[+-]?0*(\.0*)?(px|r?em|pt|%|vw|vh)?( |!|$)/],
  ['text-indent', /^-\d{3}/],
  ['left', /^-\d{3}/],
  ['top', /^-\d{3}/],
])

/** Longer styles are read up to here; nobody hides an element in the second half of a novel. */
const MAX_STYLE_CHARS = 10_000

/** True for an element that a reader of the page does not see. Only its own attributes are asked, no style sheet. */
export function isHidden(element: PageElement): boolean {
  if (NO_TEXT.has(element.nodeName.toUpperCase())) return true
  if (element.hasAttribute('hidden') || element.getAttribute('aria-hidden')?.trim().toLowerCase() === 'true')
    return true
  if (element.nodeName === 'DIALOG' && !element.hasAttribute('open')) return true
  const style = element.getAttribute('style')
  return style !== null && hides(style.slice(0, MAX_STYLE_CHARS))
}

function hides(style: string): boolean {
  // Comments and escapes are the two ways to write `display:none` without writing it.
  const plain = style.replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '').replace(/\\([0-9a-f]{1,6}\s?|.)/gi, unescapeCss)
  return plain.split(';').some((declaration) => {
    const colon = declaration.indexOf(':')
    if (colon === -1) return false
    const property = declaration.slice(0, colon).trim().toLowerCase()
    return (
      HIDING.get(property)?.test(
        declaration
          .slice(colon + 1)
          .trim()
          .toLowerCase(),
      ) ?? false
    )
  })
}

function unescapeCss(_: string, escaped: string): string {
  const code = /[0-9a-f]/i.test(escaped) ? Number.parseInt(escaped, 16) : Number.NaN
  if (Number.isNaN(code)) return escaped
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
