import { escapeLine } from '../lib/index.ts'

/** More than a hub takes unless its owner raised it, and than any model writes. */
const MAX_CHARS = 20_000_000
const MAX_REASON_CHARS = 200

/** The arguments that a model wrote as JSON, or why they are none. No text at all means no arguments. */
export function parseArguments(text: string): { readonly value: unknown } | { readonly problem: string } {
  if (text.length > MAX_CHARS) {
    return { problem: `The arguments have ${text.length} characters, the limit is ${MAX_CHARS}.` }
  }
  if (text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    const reason = escapeLine((error as Error).message).slice(0, MAX_REASON_CHARS)
    return { problem: `The arguments are not JSON: ${reason}.` }
  }
}
