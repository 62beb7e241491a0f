/** A call that has ended. */
export interface Sample {
  readonly at: number
  readonly durationMs: number
  readonly isFailure: boolean
  /** The call waited for a person, so its duration says nothing about the tool. */
  readonly hasWaited: boolean
}

/** The statistics of the last minute. */
export interface Minute {
  readonly calls: number
  readonly failures: number
  readonly perSecond: number
  readonly p50Ms: number | undefined
  readonly p95Ms: number | undefined
  /** Calls and failures by slices of two seconds, oldest first. */
  readonly callSlices: readonly number[]
  readonly failureSlices: readonly number[]
}

/** The length of the measured interval. */
export const MINUTE_MS = 60_000
const SLICES = 30
const SLICE_MS = MINUTE_MS / SLICES

/** Measures the minute before `now`. `since` is when the known calls start, if that is less than a minute ago. */
export function measureMinute(samples: Iterable<Sample>, now: number, since = 0): Minute {
  const from = now - MINUTE_MS
  const recent = [...samples].filter(({ at }) => at > from && at <= now)
  const failed = recent.filter(({ isFailure }) => isFailure)
  const durations = recent.flatMap(({ durationMs, hasWaited }) => (hasWaited ? [] : [durationMs])).sort((a, b) => a - b)
  const seconds = Math.max(1, (now - Math.max(from, Math.min(since, now))) / 1_000)
  return {
    calls: recent.length,
    failures: failed.length,
    perSecond: recent.length / seconds,
    p50Ms: quantile(durations, 0.5),
    p95Ms: quantile(durations, 0.95),
    callSlices: sliced(recent, from),
    failureSlices: sliced(failed, from),
  }
}

// By nearest rank, which is always a measured value.
function quantile(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)]
}

function sliced(samples: readonly Sample[], from: number): number[] {
  const slices = new Array<number>(SLICES).fill(0)
  for (const { at } of samples) {
    const index = Math.min(SLICES - 1, Math.floor((at - from) / SLICE_MS))
    slices[index] = (slices[index] ?? 0) + 1
  }
  return slices
}
