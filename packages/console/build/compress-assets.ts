import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import type { Plugin } from 'vite'

const TEXT = /\.(js|css|html|svg|json|webmanifest)$/

/** Adds a `.gz` and a `.br` for every text asset, so that the service does not compress at runtime. */
export function compressAssets(): Plugin {
  return {
    name: 'compress-assets',
    apply: 'build',
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        for (const [fileName, output] of Object.entries(bundle)) {
          if (!TEXT.test(fileName)) continue
          const text = Buffer.from(output.type === 'chunk' ? output.code : output.source)
          this.emitFile({ type: 'asset', fileName: `${fileName}.gz`, source: await toGzip(text) })
          this.emitFile({ type: 'asset', fileName: `${fileName}.br`, source: await toBrotli(text) })
        }
      },
    },
  }
}

function toGzip(text: Buffer): Promise<Buffer> {
  return promisify(gzip)(text, { level: 9 })
}

function toBrotli(text: Buffer): Promise<Buffer> {
  return promisify(brotliCompress)(text, { params: { [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY } })
}
