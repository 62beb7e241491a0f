/** A time span as short as it is clear: 0.8 ms, 840 ms, 3.2 s, 4 min 12 s, 3 h 5 min, 2 d 4 h. */
export function formatDuration(ms: number): string {
  if (ms < 0 || !Number.isFinite(ms)) return '–'
  if (ms < 10) return `${trim(ms)} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${trim(ms / 1_000)} s`
  const [days, hours, minutes, seconds] = split(Math.round(ms / 1_000))
  if (days > 0) return join(days, 'd', hours, 'h')
  if (hours > 0) return join(hours, 'h', minutes, 'min')
  return join(minutes, 'min', seconds, 's')
}

function trim(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '')
}

function split(seconds: number): [number, number, number, number] {
  return [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}
