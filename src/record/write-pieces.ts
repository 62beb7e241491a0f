import type { FileHandle } from 'node:fs/promises'

/** Writes pieces one behind the other with as few calls as the disk allows; gives back how many bytes they have. */
export async function writePieces(file: FileHandle, pieces: readonly Uint8Array[], position: number): Promise<number> {
  let rest = pieces
  let written = 0
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest, position + written)
    if (bytesWritten === 0) throw new Error('The disk took nothing.')
    written += bytesWritten
    rest = behind(rest, bytesWritten)
  }
  return written
}

/** What is left of pieces when so many bytes of them were taken. */
function behind(pieces: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let taken = bytes
  let index = 0
  while (index < pieces.length && taken >= pieces[index]!.byteLength) taken -= pieces[index++]!.byteLength
  const [first, ...others] = pieces.slice(index)
  return first ? [first.subarray(taken), ...others] : []
}
