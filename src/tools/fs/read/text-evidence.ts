import { hash } from 'node:crypto'
import type { Evidence } from '../../../core/index.ts'

const LINES = 20
/** Enough for the first lines of any text that people write. */
const MAX_CHARS = 65_536

/** What proves that a text was read: how much of it, and the hash of its first lines. */
export function textEvidence(path: string, text: string, what: string): Evidence {
  let end = 0
  for (let line = 0; line < LINES && end !== -1; line++) end = text.indexOf('\n', end) + 1 || -1
  const head = text.slice(0, Math.min(end === -1 ? text.length : end, MAX_CHARS))
  const sha256 = hash('sha256', head, 'hex')
  return { type: 'file', ref: path, summary: `${what}, sha256 of the first ${LINES} lines ${sha256}` }
}
