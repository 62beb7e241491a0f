import { defineFeature, lazyModule } from '@tool-hub/core'
import type { CandidateStore } from './candidate-store.ts'
import type { NoteStore } from './store.ts'
import { adjustMemoryTools } from './tools/adjust.ts'
import type { MemoryHandle, MemoryOptions, MemoryService } from './types.ts'

export type { MemoryProvider, ProviderNote, ProviderUse } from './providers/provider.ts'
export type { EmbedTexts, MemoryCandidate, MemoryHandle, MemoryNote, MemoryOptions, MemoryService } from './types.ts'

declare module '@tool-hub/core/feature' {
  interface FeatureHandles {
    /** Notes that outlive the call. */
    readonly memory: MemoryHandle
  }
  interface FeatureServices {
    /** Notes of agents: search, review, import and export; loaded when it is first used. */
    readonly memory: MemoryService
  }
  interface FeatureOptions {
    /** What agents remember; docs/reference/memory.md. */
    readonly memory?: MemoryOptions
  }
  interface FeatureStores {
    /** Notes of agents. */
    readonly memory: NoteStore
    /** Notes that wait for review, of a store that several machines share; otherwise they are in the archives of runs. */
    readonly memoryCandidates: CandidateStore
  }
}

const load = lazyModule(() => import('./create-memory.ts'))

/** What agents remember: notes, which by default wait for review. */
export const memory = defineFeature({
  name: 'memory',
  capability: 'memory',
  create: async (options, host) => (await load()).createMemory(options, host),
  methods: ['status', 'search', 'find', 'forget', 'candidates', 'candidate', 'promote', 'reject', 'export', 'import'],
  adjustTools: adjustMemoryTools,
  command: { name: 'memory', summary: 'Review, search, export what agents remember' },
})
