import { sha256 } from '../../lib/index.ts'

/** The `prev` of a run's first line. */
export const FIRST_PREV = '0'.repeat(64)

/** What the next line is linked to. */
export interface ChainLink {
  readonly seq: number
  readonly hash: string
}

/** Makes the next line, newline included, and what its successor is linked to. */
export function linkLine(last: ChainLink, time: string, body: string): ChainLink & { readonly line: string } {
  const seq = last.seq + 1
  const sealed = `{"seq":${seq},"time":"${time}",${body.slice(1, -1)},"prev":"${last.hash}"`
  const hash = sha256(sealed)
  return { seq, hash, line: `${sealed},"hash":"${hash}"}\n` }
}

/** A line as the chain sees it. */
export interface LineFacts extends ChainLink {
  readonly prev: string
  readonly time: string
  readonly type: string
  readonly callId: string | undefined
  /** The line's own hash fits its content. */
  readonly intact: boolean
}

const HEAD = /^\{"seq":(\d{1,15}),"time":"([^"\\]{1,40})","type":"([a-z-]{1,40})"(?:,"callId":"([^"\\]{1,128})")?/
const HEAD_BYTES = 320
const TAIL = /^,"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}$/
const TAIL_BYTES = 149
const HASH_BYTES = 75

/** Reads a line without parsing it (a run can have a million); undefined when it is no line of ours. */
export function inspectLine(line: Buffer): LineFacts | undefined {
  const head = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES))
  const tail = TAIL.exec(line.toString('latin1', Math.max(0, line.length - TAIL_BYTES)))
  if (!head || !tail) return undefined
  const hash = tail[2]!
  const intact = sha256(line.subarray(0, line.length - HASH_BYTES)) === hash
  return { seq: Number(head[1]), time: head[2]!, type: head[3]!, callId: head[4], prev: tail[1]!, hash, intact }
}

/** The event's own JSON, as it was handed to `linkLine`. */
export function bodyOf(line: Buffer): string {
  const text = line.toString('utf8', 0, line.length - TAIL_BYTES)
  return `{${text.slice(text.indexOf('"type":'))}}`
}
