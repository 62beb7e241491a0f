import { open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { JsonLine } from '@tool-hub/core'
import { errnoOf, isPlainObject } from '@tool-hub/core/lib'
import { UsageError } from '../exit.ts'

/** More than a hub takes as arguments of one call. */
const MAX_LINE_LENGTH = 16_000_000

const WHAT_TO_NAME = 'Name a file of JSON lines, or - for stdin.'

/** The JSON objects of a file, or of stdin for `-`, a line each; blank lines are passed over. Ends early when aborted. */
export async function* readJsonLines(file: string, signal: AbortSignal): AsyncGenerator<JsonLine, void, undefined> {
  let number = 0
  try {
    const stream = file === '-' ? process.stdin : await openFile(file)
    addAbortSignal(signal, stream)
    for await (const line of cutLines(stream)) {
      number++
      if (line === undefined || line.trim() !== '') yield readLine(number, line)
    }
  } catch (error) {
    if (signal.aborted) return
    const errno = errnoOf(error)
    throw errno === 'UNKNOWN' ? error : new UsageError(`${file} cannot be read (${errno}).`, WHAT_TO_NAME)
  }
}

/** The stream closes the handle when it ends, fails or is left; before there is one, we do. */
async function openFile(file: string): Promise<Readable> {
  const handle = await open(file)
  try {
    if ((await handle.stat()).isDirectory()) throw new UsageError(`${file} is a folder.`, WHAT_TO_NAME)
    return handle.createReadStream()
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The lines of a stream; `undefined` for a line that is too long to be kept. */
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
  return carry === undefined || carry.length + piece.length > MAX_LINE_LENGTH ? undefined : carry + piece
}

function readLine(number: number, line: string | undefined): JsonLine {
  if (line === undefined) return { number, problem: `is longer than ${MAX_LINE_LENGTH} characters` }
  try {
    const value: unknown = JSON.parse(line)
    if (isPlainObject(value)) return { number, value }
    return { number, problem: 'is not a JSON object' }
  } catch (error) {
    return { number, problem: `is not JSON: ${(error as Error).message}` }
  }
}

/**
 * Works on items as they arrive, at most `concurrency` of them concurrently, and yields the results in the order of the
 * items. Never holds more than `concurrency` results. `work` must not reject.
 */
export async function* inOrder<T, R>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  concurrency: number,
): AsyncGenerator<R, void, undefined> {
  const queue: Promise<R>[] = []
  const added = new Bell()
  const taken = new Bell()
  let isDone = false
  const reading = (async () => {
    for await (const item of items) {
      while (queue.length >= concurrency) await taken.next()
      queue.push(work(item))
      added.ring()
    }
  })().finally(() => {
    isDone = true
    added.ring()
  })
  // A failure to read is thrown at the end, after the results of what was read.
  reading.catch(() => {})
  while (queue.length > 0 || !isDone) {
    if (queue.length === 0) {
      await added.next()
      continue
    }
    yield await queue[0]!
    void queue.shift()
    taken.ring()
  }
  await reading
}

/** Wakes the one waiter that it may have. */
class Bell {
  #wake: () => void = () => {}

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  ring(): void {
    this.#wake()
  }
}
