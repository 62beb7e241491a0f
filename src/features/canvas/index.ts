export { SCRIPT_NAMES } from './canvas-scripts.ts'
export { pagePolicy } from './page-policy.ts'

import { defineFeature, lazyModule } from '../../core/index.ts'
import { canvas as canvasTool } from './tools/canvas.ts'

const load = lazyModule(() => import('./create-canvas.ts'))

/** What agents show to people. */
export const canvas = defineFeature({
  name: 'canvas',
  capability: 'canvas',
  create: async (options, host) => (await load()).createCanvas(options, host),
  methods: ['list', 'find', 'content', 'document', 'hide'],
  tools: [canvasTool],
})
