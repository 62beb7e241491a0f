const LINE_END = 10

/** How many bytes at the end are the beginning of a character whose rest has not come yet: 0 to 3. */
export function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]!
    if (isContinuation(byte)) continue
    return lengthOf(byte) > back ? back : 0
  }
  return 0
}

/**
 * What is left of a text whose beginning was lost: whole lines, or whole characters where the next line begins so late
 * that most of the text would go.
 */
export function fromWholeLine(bytes: Buffer): Buffer {
  const lineEnd = bytes.indexOf(LINE_END)
  if (lineEnd !== -1 && lineEnd < bytes.length / 2) return bytes.subarray(lineEnd + 1)
  let start = 0
  while (start < 3 && start < bytes.length && isContinuation(bytes[start]!)) start += 1
  return bytes.subarray(start)
}

/** The beginning of a text, at most so many bytes, whole characters only. */
export function upToWholeCharacter(bytes: Buffer, most: number): Buffer {
  if (bytes.length <= most) return bytes
  const cut = bytes.subarray(0, most)
  return cut.subarray(0, cut.length - unfinishedBytes(cut))
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0
}

/** How long the character is that begins with this byte; what begins none stands for itself. */
function lengthOf(byte: number): number {
  if (byte >= 0xc2 && byte < 0xe0) return 2
  if (byte >= 0xe0 && byte < 0xf0) return 3
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 1
}
