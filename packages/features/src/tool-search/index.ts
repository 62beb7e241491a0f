import { defineFeature, lazyModule } from '@tool-hub/core'
import { arrangeTools } from './discovery.ts'
import type { ToolSearchHandle, ToolSearchOptions, ToolSearchService } from './types.ts'

export type {
  ToolDescription,
  ToolDescriptions,
  ToolMatch,
  ToolMatches,
  ToolQuery,
  ToolSearchHandle,
  ToolSearchOptions,
  ToolSearchScope,
  ToolSearchService,
} from './types.ts'

declare module '@tool-hub/core/feature' {
  interface FeatureHandles {
    /** Finds and describes the tools that the caller sees. */
    readonly toolSearch: ToolSearchHandle
  }
  interface FeatureServices {
    /** Finds and describes tools; loaded on first use. */
    readonly toolSearch: ToolSearchService
  }
  interface FeatureOptions {
    /** How tools are found, and when models are shown a search; docs/reference/tool-search.md. */
    readonly toolSearch?: ToolSearchOptions
  }
}

const load = lazyModule(() => import('./create-tool-search.ts'))

/** The feature `toolSearch`: finds tools by what they do, and shows models a search where there are many. */
export const toolSearch = defineFeature({
  name: 'toolSearch',
  capability: 'discovery',
  create: async (options, host) => (await load()).createToolSearch(options, host),
  methods: ['search', 'describe'],
  arrangeTools,
})
