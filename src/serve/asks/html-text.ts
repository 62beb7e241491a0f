import { revealText } from '../../value/escape-text.ts'

/** Text of a stranger in a page: neither markup nor something that hides or reorders words. */
export function htmlText(value: string): string {
  return revealText(value).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
