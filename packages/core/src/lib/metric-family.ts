/** One value of a metric. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric in the text format of Prometheus. */
export function family(type: 'counter' | 'gauge', name: string, help: string, samples: readonly Sample[]): string {
  return writeFamily(
    type,
    name,
    help,
    samples.map((sample) => [name, sample] as const),
  )
}

/** What a histogram has counted: for each bound, the values up to it and above the one before; last, those above all. */
export interface Observations {
  readonly labels: Readonly<Record<string, string>>
  readonly counts: readonly number[]
  readonly sum: number
}

/** A histogram in the text format of Prometheus, which counts a bucket with all those below it. */
export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  observed: readonly Observations[],
): string {
  const lines = observed.flatMap(({ labels, counts, sum }) => {
    let total = 0
    const buckets = counts.map((count, index) => {
      total += count
      const le = index < bounds.length ? String(bounds[index]) : '+Inf'
      return [`${name}_bucket`, { labels: { ...labels, le }, value: total }] as const
    })
    return [
      ...buckets,
      [`${name}_sum`, { labels, value: sum }] as const,
      [`${name}_count`, { labels, value: total }] as const,
    ]
  })
  return writeFamily('histogram', name, help, lines)
}

function writeFamily(
  type: string,
  name: string,
  help: string,
  samples: readonly (readonly [string, Sample])[],
): string {
  const lines = samples.map(([series, { labels = {}, value }]) => `${series}${labelText(labels)} ${value}`)
  return `${[`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join('\n')}\n`
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
