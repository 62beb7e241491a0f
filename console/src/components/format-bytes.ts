const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** A size as short as it is clear: 1 byte, 840 bytes, 12.4 KB, 3 MB. */
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes) || bytes < 0) return '–'
  if (bytes === 1) return '1 byte'
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000
    unit += 1
  }
  return `${value.toFixed(1).replace(/\.0$/, '')} ${UNITS[unit]}`
}
