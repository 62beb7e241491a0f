// CSI; strings (OSC, DCS, SOS, PM, APC), which a newline ends so that a stray one does not swallow what follows; the
// short codes; C1's CSI; and the bell, backspace and shifts. Each part is a run of characters that cannot begin the
// next, so the time is linear. Node's stripVTControlCharacters leaves titles with blanks in them, and DCS.
const CODES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])?|\u009b[0-?]*[ -/]*[@-~]|[\u0007\u0008\u000e\u000f]/g

/** Every terminal code contains one of these bytes. */
export const CODE_BYTES: readonly number[] = [0x1b, 0x9b, 0x07, 0x08, 0x0e, 0x0f]

const UNFINISHED = /^\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\n]*|[ -/]*)$/
const MAX_CODE_LENGTH = 4096

/** Text as a terminal would finally show it: without codes, and each line as it was last drawn. */
export function plainText(text: string): string {
  return collapseLines(stripCodes(text))
}

/** Removes terminal codes. */
export function stripCodes(text: string): string {
  return text.replace(CODES, '')
}

/** How many characters at the end are the beginning of an incomplete code. */
export function unfinishedCode(text: string): number {
  const at = text.lastIndexOf('\u001b')
  const length = text.length - at
  return at !== -1 && length <= MAX_CODE_LENGTH && UNFINISHED.test(text.slice(at)) ? length : 0
}

/** Lines as they were last drawn: progress bars return to the beginning of the line with a carriage return. */
export function collapseLines(text: string): string {
  if (!text.includes('\r')) return text
  return text.split('\n').map(lastDrawn).join('\n')
}

/** The final content of a line. */
export function lastDrawn(line: string): string {
  if (!line.includes('\r')) return line
  let end = line.length
  while (line[end - 1] === '\r') end -= 1
  return line.slice(end === 0 ? 0 : line.lastIndexOf('\r', end - 1) + 1, end)
}

const NEWLINE = 10

/** How many bytes at the end are the beginning of an incomplete character: 0 to 3. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]!
    if (isContinuation(byte)) continue
    return lengthOf(byte) > back ? back : 0
  }
  return 0
}

/**
 * The rest of a text whose beginning was cut off: complete lines, or complete characters if the next line begins so late
 * that most of the text would be lost.
 */
export function fromWholeLine(bytes: Buffer): Buffer {
  const newline = bytes.indexOf(NEWLINE)
  if (newline !== -1 && newline < bytes.length / 2) return bytes.subarray(newline + 1)
  let start = 0
  while (start < 3 && start < bytes.length && isContinuation(bytes[start]!)) start += 1
  return bytes.subarray(start)
}

/** The beginning of a text: at most `maxBytes`, complete characters only. */
export function upToWholeCharacter(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length <= maxBytes) return bytes
  const cut = bytes.subarray(0, maxBytes)
  return cut.subarray(0, cut.length - unfinishedBytes(cut))
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0
}

/** The length of the character that begins with this byte; 1 for a byte that begins none. */
function lengthOf(byte: number): number {
  if (byte >= 0xc2 && byte < 0xe0) return 2
  if (byte >= 0xe0 && byte < 0xf0) return 3
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 1
}

const FIRST_BYTES = 4096

/** The last bytes of a stream, up to a limit, in a ring buffer. Bytes are copied, so that no chunk is retained. */
export class LastBytes {
  readonly #bound: number
  #buffer = Buffer.alloc(0)
  #total = 0

  constructor(bound: number) {
    this.#bound = bound
  }

  /** How many bytes were pushed in total. */
  get total(): number {
    return this.#total
  }

  /** Whether more was pushed than is kept. */
  get isCut(): boolean {
    return this.#total > this.#bound
  }

  push(bytes: Uint8Array): void {
    const kept = bytes.length > this.#bound ? bytes.subarray(bytes.length - this.#bound) : bytes
    this.#grow(Math.min(this.#bound, this.#total + bytes.length))
    const at = (this.#total + bytes.length - kept.length) % this.#bound
    const room = this.#bound - at
    this.#buffer.set(kept.length > room ? kept.subarray(0, room) : kept, at)
    if (kept.length > room) this.#buffer.set(kept.subarray(room), 0)
    this.#total += bytes.length
  }

  /** A copy of the kept bytes, oldest first. */
  bytes(): Buffer {
    if (this.#total <= this.#bound) return Buffer.from(this.#buffer.subarray(0, this.#total))
    const at = this.#total % this.#bound
    return Buffer.concat([this.#buffer.subarray(at), this.#buffer.subarray(0, at)])
  }

  /** Most commands write little: the buffer grows as needed, by doubling. */
  #grow(need: number): void {
    if (need <= this.#buffer.length) return
    const size = Math.min(this.#bound, Math.max(need, this.#buffer.length * 2, FIRST_BYTES))
    const buffer = Buffer.allocUnsafeSlow(size)
    buffer.set(this.#buffer.subarray(0, Math.min(this.#total, this.#buffer.length)))
    this.#buffer = buffer
  }
}
