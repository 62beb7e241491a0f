import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants as zlib } from 'node:zlib'
import { rolldown } from 'rolldown'
import type { Plugin } from 'vite'

const KINDS = ['markdown', 'mermaid', 'vega-lite']

/**
 * Builds the scripts that draw canvases, each in a single file: a frame without an origin cannot load modules. They
 * are not part of the console: the service serves them only to frames. Only compressed, because they are half of the package.
 */
export function buildCanvasFrame({ from, to }: { readonly from: string; readonly to: string }): Plugin {
  return {
    name: 'build-canvas-frame',
    apply: 'build',
    async closeBundle() {
      await rm(to, { recursive: true, force: true })
      await mkdir(to, { recursive: true })
      for (const kind of KINDS) await build(join(from, `${kind}.ts`), join(to, `${kind}.js`))
    },
  }
}

async function build(input: string, file: string): Promise<void> {
  const bundle = await rolldown({ input, platform: 'browser', logLevel: 'silent' })
  const { output } = await bundle.generate({ format: 'iife', minify: true, codeSplitting: false })
  await bundle.close()
  const code = Buffer.from(output[0].code)
  // The highest quality would take longer than the rest of the build.
  const params = { [zlib.BROTLI_PARAM_QUALITY]: 9 }
  await writeFile(`${file}.br`, await promisify(brotliCompress)(code, { params }))
}
