import { open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { UsageError } from './usage-error.ts'

/** A line of a file of JSON objects: what it holds, or why it holds nothing. */
export type JsonLine =
  | { readonly number: number; readonly value: Readonly<Record<string, unknown>> }
  | { readonly number: number; readonly problem: string }

/** More than a hub takes as arguments of one call. */
const LONGEST_LINE = 16_000_000

/** The JSON objects of a file, or of stdin for `-`, a line each; blank lines are passed over. Ends early when aborted. */
export async function* readJsonLines(file: string, signal: AbortSignal): AsyncGenerator<JsonLine, void, undefined> {
  const stream = await openStream(file)
  addAbortSignal(signal, stream)
  let number = 0
  try {
    for await (const line of cutLines(stream)) {
      number++
      if (line === undefined || line.trim() !== '') yield readLine(number, line)
    }
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
}

async function openStream(file: string): Promise<Readable> {
  if (file === '-') return process.stdin
  try {
    const handle = await open(file)
    if ((await handle.stat()).isDirectory())
      throw new UsageError(`${file} is a folder.`, 'Name a file of JSON lines, or - for stdin.')
    return handle.createReadStream()
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      'Name a file of JSON lines, or - for stdin.',
    )
  }
}

/** The lines of a stream; nothing in place of a line that is too long to be kept. */
async function* cutLines(stream: Readable): AsyncGenerator<string | undefined, void, undefined> {
  const decoder = new StringDecoder('utf8')
  let carry: string | undefined = ''
  for await (const chunk of stream) {
    const [first = '', ...others] = decoder.write(chunk as Buffer).split('\n')
    carry = join(carry, first)
    for (const piece of others) {
      yield carry
      carry = join('', piece)
    }
  }
  const last = join(carry, decoder.end())
  if (last !== '') yield last
}

function join(carry: string | undefined, piece: string): string | undefined {
  return carry === undefined || carry.length + piece.length > LONGEST_LINE ? undefined : carry + piece
}

function readLine(number: number, line: string | undefined): JsonLine {
  if (line === undefined) return { number, problem: `is longer than ${LONGEST_LINE} characters` }
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value)) return { number, value }
    return { number, problem: 'is not a JSON object' }
  } catch (error) {
    return { number, problem: `is not JSON: ${(error as Error).message}` }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
