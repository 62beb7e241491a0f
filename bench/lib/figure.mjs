import { ratios, summarize } from './statistics.mjs'

/** One line of the table: a measured value, in its unit, and the goal it has to keep to, when there is one. */
export function figure(label, samples, { unit, goal }) {
  const summary = summarize(samples)
  return {
    label,
    unit,
    ...summary,
    rounds: samples.length,
    ...(goal !== undefined && { goal, met: summary.median <= goal }),
  }
}

/** How many times as much `ours` takes as `theirs`, round by round. */
export function ratioFigure(label, ours, theirs, { goal } = {}) {
  return figure(label, ratios(ours, theirs), { unit: 'x', goal })
}
