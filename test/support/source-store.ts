import { createMemoryStore, openStore } from '@tool-hub/library/stores'
import { onTestFinished } from 'vitest'
import type { SourceHost } from '../../packages/core/src/source.ts'
import { featureStores as features } from '../../packages/library/src/generated/stores/index.ts'
import { Pins } from '../../packages/mcp/src/pins.ts'
import { openSourceStore } from '../../packages/runtime/src/hub/sources.ts'

/** The store of sources in a data folder, as a hub without a store of its own has it. */
export function sourceStore(data: string): SourceHost['store'] {
  const store = openSourceStore(createMemoryStore(), { data, features })
  onTestFinished(() => store.close())
  return store
}

/** The parts of the host of a source that say where it keeps things. */
export function sourceHost(data: string): Pick<SourceHost, 'data' | 'store'> {
  return { data, store: sourceStore(data) }
}

/** A store on the network, which machines share: a file that only TOOL_HUB_KEY protects. */
export function networkStore(folder: string, earlier?: SourceHost['store']['earlier']): SourceHost['store'] {
  const store = openStore(folder)
  onTestFinished(() => store.close())
  return { documents: store.documents, slots: store.slots, ...(earlier && { earlier }) }
}

/** The pins of MCP servers in a data folder. */
export function pinsOf(data: string): Pins {
  return new Pins(sourceHost(data))
}

/** What a document of a store holds; `undefined` if there is none. */
export async function readDocument(data: string, name: string): Promise<string | undefined> {
  return (await sourceStore(data).documents.read(name))?.body
}
