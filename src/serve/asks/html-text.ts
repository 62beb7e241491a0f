import { escapeText } from '../../value/escape-text.ts'

/** Text of a stranger in a page: neither markup nor something that hides or reorders words. */
export function htmlText(value: string): string {
  return escapeText(value).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
