import { defineFeature, lazyModule } from '@tool-hub/core'
import type { CanvasHandle, CanvasOptions, CanvasService, CanvasStore } from './types.ts'

declare module '@tool-hub/core/feature' {
  interface FeatureHandles {
    /** Shows content to people. */
    readonly canvas: CanvasHandle
  }
  interface FeatureServices {
    /** Canvases that agents show to people; loaded on first use. */
    readonly canvas: CanvasService
  }
  interface FeatureOptions {
    /** Limits of canvases; docs/reference/canvas.md. */
    readonly canvas?: CanvasOptions
  }
  interface FeatureStores {
    /** Canvases that agents show to people. */
    readonly canvases: CanvasStore
  }
}

const load = lazyModule(() => import('./create-canvas.ts'))

/** The feature `canvas`: content that agents show to people. */
export const canvas = defineFeature({
  name: 'canvas',
  capability: 'canvas',
  create: async (options, host) => (await load()).createCanvas(options, host),
  methods: ['list', 'find', 'content', 'document', 'hide'],
  command: { name: 'canvas', summary: 'View what agents show to people' },
})
