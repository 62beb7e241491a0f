import { opendirSync } from 'node:fs'
import { fileAccess } from '../access/choose-access.ts'
import { namesAt } from '../at-descriptor.ts'

/** A folder whose own size is at most this has some thousand names at most, on the file systems that count them there. */
const SMALL_FOLDER_BYTES = 65_536

/** So many names are read between two looks at the clock. */
const BATCH = 512

/**
 * Gives the names in a folder in batches, in no order. A small folder is read at once, which is faster; any other piece
 * by piece, so that one of millions neither fills the memory nor keeps everybody waiting.
 */
export function* folderNames(descriptor: number, folderBytes: number): Generator<string[]> {
  // Without descriptors nobody could tell which folder is read piece by piece.
  if ((folderBytes > 0 && folderBytes <= SMALL_FOLDER_BYTES) || fileAccess.level === 'paths') {
    yield namesAt(descriptor)
    return
  }
  const folder = opendirSync(fileAccess.at(descriptor, '.'), { bufferSize: BATCH })
  try {
    let names: string[] = []
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
      names.push(entry.name)
      if (names.length < BATCH) continue
      yield names
      names = []
    }
    yield names
  } finally {
    folder.closeSync()
  }
}
