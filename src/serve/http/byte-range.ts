/** The part of a file that a request wants: all of it, a range, or one that the file does not have. */
export type WantedBytes = 'all' | 'outside' | { readonly start: number; readonly end: number }

const RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

/** Reads a Range header; `end` is the first byte that is not wanted. More than one range, or nonsense, is answered with all. */
export function byteRange(header: string | undefined, size: number): WantedBytes {
  const [, first = '', last = ''] = RANGE.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return 'all'
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'outside' : { start: size - length, end: size }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return 'all'
  if (start >= size) return 'outside'
  return { start, end: last === '' ? size : Math.min(Number(last) + 1, size) }
}
