/** How long each kind of call took. */
export class Latencies {
  #byKind = new Map()

  async time(kind, work) {
    const start = performance.now()
    try {
      return await work()
    } finally {
      const times = this.#byKind.get(kind) ?? []
      this.#byKind.set(kind, times)
      times.push(performance.now() - start)
    }
  }

  get count() {
    return [...this.#byKind.values()].reduce((sum, times) => sum + times.length, 0)
  }

  print() {
    console.log(
      `  ${'kind'.padEnd(12)}${['calls', 'p50 ms', 'p99 ms', 'max ms'].map((name) => name.padStart(10)).join('')}`,
    )
    for (const [kind, times] of this.#byKind) {
      times.sort((a, b) => a - b)
      const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1)
      const row = [String(times.length), at(0.5), at(0.99), at(1)]
      console.log(`  ${kind.padEnd(12)}${row.map((cell) => cell.padStart(10)).join('')}`)
    }
  }
}
