import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { buildCanvasFrame } from './build/build-canvas-frame.ts'
import { compressAssets } from './build/compress-assets.ts'

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// Nothing may end up inline: the service sends script-src 'self' and style-src 'self'.
export default defineConfig({
  root: folder('.'),
  oxc: { jsx: { runtime: 'automatic', importSource: 'react' } },
  plugins: [
    compressAssets(),
    buildCanvasFrame({ from: folder('src/canvas-frame'), to: folder('../tool-hub/dist/canvas-frame') }),
  ],
  build: {
    outDir: folder('../tool-hub/dist/console'),
    emptyOutDir: true,
    target: ['chrome125', 'firefox128', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // A slow machine is nothing to warn of.
      checks: { bundlerTimings: false },
      // Packages mark files for React's server with 'use client', which means nothing here.
      onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
    },
  },
  server: { proxy: { '/v1': { target: process.env.TOOL_HUB_URL ?? 'http://127.0.0.1:4040', changeOrigin: true } } },
})
