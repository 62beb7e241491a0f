import type { ContentBlock, Evidence } from '../../core/index.ts'
import { isPlainObject } from '../../lib/index.ts'
import { cutHead } from '../../limits/index.ts'
import type { Call } from './call.ts'

const MAX_SUMMARY_CHARS = 200
const MAX_KEYS = 5
const MAX_KEY_CHARS = 40

/** What a summary is made of: everything without secrets. */
interface Outcome {
  readonly data: unknown
  readonly content: readonly ContentBlock[]
  /** What the tool itself has proven; empty if it has not. */
  readonly evidence: readonly Evidence[]
}

/**
 * Says in one line what a call did, for logs, histories and approvers. What it read or was told is not repeated: the evidence
 * of the tool describes it, else its own single line of text, else the shape of its data.
 */
export function summarize(call: Call, { data, content, evidence }: Outcome): string {
  const { title, name } = call.tool!.tool
  const [first, ...others] = evidence
  if (first) {
    const where = first.ref === call.id ? '' : `${first.ref}, `
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    return oneLine(`${title ?? name}: ${where}${first.summary}${more}`)
  }
  return oneLine(ownLine(data, content) ?? `${title ?? name}: returned ${shapeOf(payloadOf(call, data, content))}`)
}

/** The first line of a text, cut where it is long. */
export function oneLine(text: string): string {
  const end = text.indexOf('\n')
  const line = end === -1 ? text : text.slice(0, end)
  return cutHead(line, MAX_SUMMARY_CHARS)
}

/** What a tool says in a single line says what it did; JSON does not. */
function ownLine(data: unknown, content: readonly ContentBlock[]): string | undefined {
  const [block, ...others] = content
  if (block?.type !== 'text' || others.length > 0 || block.text === '' || block.text.length > MAX_SUMMARY_CHARS) return
  if (block.text.includes('\n') || (typeof data !== 'string' && /^[[{]/.test(block.text))) return
  return block.text
}

/** What the author of a tool returned, without the form that holds it; a hook may have put something else in its place. */
function payloadOf(call: Call, data: unknown, content: readonly ContentBlock[]): unknown {
  const { kind } = call.tool!.tool
  if (!isPlainObject(data) || (kind !== 'agent-tool' && kind !== 'handler')) return data
  return data.details ?? content.map((block) => ('text' in block ? block.text : '')).join('\n')
}

/** Keys, never values. */
function shapeOf(data: unknown): string {
  if (typeof data === 'string') return `${data.length} characters of text`
  if (Array.isArray(data)) return `a list of ${data.length}`
  if (typeof data !== 'object' || data === null) return String(data)
  const keys = Object.keys(data)
  const named = keys.slice(0, MAX_KEYS).map((key) => key.slice(0, MAX_KEY_CHARS))
  return `an object with ${named.join(', ') || 'no keys'}${keys.length > MAX_KEYS ? ', …' : ''}`
}
