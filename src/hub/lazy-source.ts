import type { ToolSource } from '../core/index.ts'

/** A source whose code is loaded when it starts: a hub that has none of its kind never pays for it. */
export function lazySource(name: string, load: () => Promise<ToolSource>): ToolSource {
  let source: ToolSource | undefined
  let isClosed = false
  return {
    name,
    async start(host) {
      const loaded = await load()
      if (isClosed) return
      source = loaded
      await source.start(host)
    },
    async close() {
      isClosed = true
      await source?.close?.()
    },
  }
}
