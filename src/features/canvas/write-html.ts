import { escapeLine } from '../../lib/index.ts'

/** Text in a page: neither markup nor something that hides or reorders words. */
export function writeText(text: string): string {
  return writeAttribute(escapeLine(text))
}

/** Any text as the value of an attribute in quotes, where it stays the same. */
export function writeAttribute(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** A value as the JSON of a script element, which no text in it can end. */
export function writeData(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A script of ours as an element; nothing in it can end the element or begin a comment. */
export function writeScript(source: string): string {
  return `<script>${source.replaceAll(/<(?=\/script|!--)/gi, '\\x3c')}</script>`
}
