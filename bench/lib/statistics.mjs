/** The value that a share of the samples lies below; 0.5 is the median. */
export function quantile(samples, share) {
  const sorted = [...samples].sort((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const below = Math.floor(place)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below)
}

/** Median, and the quartiles as spread: one disturbed round moves neither. */
export function summarize(samples) {
  return { median: quantile(samples, 0.5), low: quantile(samples, 0.25), high: quantile(samples, 0.75) }
}

/** One ratio a round: what disturbs a round disturbs both sides of it. */
export function ratios(ours, theirs) {
  return ours.map((value, round) => value / theirs[round])
}
