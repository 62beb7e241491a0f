import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { figure } from '../lib/figure.mjs'

const CONSOLE = new URL('../../packages/tool-hub/dist/console/', import.meta.url)

/** What a browser loads before it shows the first page: the document, and all that it names, gzipped. */
export default async function consoleSize() {
  const page = readFileSync(new URL('index.html', CONSOLE), 'utf8')
  const named = [...page.matchAll(/(?:src|href)="\/?(assets\/[^"]+)"/g)].map(([, path]) => path)
  const live = readdirSync(new URL('assets/', CONSOLE)).filter((name) => /live/i.test(name) && /\.(js|css)$/.test(name))
  const files = [...new Set(['index.html', ...named, ...live.map((name) => `assets/${name}`)])]
  const bytes = files.reduce((sum, path) => sum + gzipSync(readFileSync(new URL(path, CONSOLE))).length, 0)
  return [figure('first load, gzipped', [bytes / 1_000], { unit: 'KB', goal: 300 })]
}
