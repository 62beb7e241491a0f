import type { Edit, Replacement, Rung } from './edit.ts'

/**
 * The new text with the line ends of the place it goes to. Models write `\n`; a Windows file stays one. Who writes
 * `\r\n` in the old text knows what the file has, so that the new text is taken as it is.
 */
export function keepLineEnds(file: string, found: Replacement, { oldText }: Edit, rung: Rung): Replacement {
  const place = wholeLineEnd(file, found, oldText)
  if (!place.text.includes('\n')) return place
  const knowsWindows = oldText.includes('\r\n')
  const isWindows = hasWindowsLineEnd(file, place)
  if (isWindows && !knowsWindows && !place.text.includes('\r'))
    return { ...place, text: place.text.replaceAll('\n', '\r\n') }
  if (!isWindows && knowsWindows && rung !== 'exact') return { ...place, text: place.text.replaceAll('\r\n', '\n') }
  return place
}

/** A place that begins with the second half of a `\r\n` takes the first half, too. */
function wholeLineEnd(file: string, place: Replacement, oldText: string): Replacement {
  const isHalf = oldText.startsWith('\n') && file[place.start] === '\n' && file[place.start - 1] === '\r'
  return isHalf ? { ...place, start: place.start - 1 } : place
}

/** Whether the first line end in the place, or else the one after it, or else the one before it, is `\r\n`. */
function hasWindowsLineEnd(file: string, { start }: Replacement): boolean {
  const after = file.indexOf('\n', start)
  const at = after === -1 && start > 0 ? file.lastIndexOf('\n', start - 1) : after
  return at > 0 && file[at - 1] === '\r'
}
