import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Where an adapter is named: its file, the manifest, its example, and the table of adapters. */
const MAX_ADAPTER_PLACES = 4
/** Other pages of docs/ may use an adapter; they do not change for a new one. */
const SEARCHED = ['packages', 'scripts', 'examples', 'docs/reference/adapters.md', 'docs/README.md']

const { exports } = JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8')) as {
  readonly exports: Record<string, unknown>
}
const adapters = Object.entries(exports).flatMap(([entry, target]) =>
  /types\/adapters\/[\w-]+\.d\.ts/.test(JSON.stringify(target)) ? [entry.slice(2)] : [],
)

/** Product files: tests are beside the code. */
const files = SEARCHED.flatMap((place) =>
  place.includes('.')
    ? [place]
    : readdirSync(place, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name)),
)
  .filter((file) => !/\/(dist|docs|node_modules)\//.test(file))
  .filter((file) => /\.(ts|mjs|md|json)$/.test(file) && !/\.(test|test-d)\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))

describe('an adapter', () => {
  it.each(adapters)('is named in the places that CONTRIBUTING.md lists: %s', (name) => {
    const own = [
      `packages/adapters/src/${name}.ts`,
      'packages/tool-hub/package.json',
      `examples/${name}.mjs`,
      'docs/reference/adapters.md',
    ]
    const named = new RegExp(`(?:adapters|tool-hub)/${name}\\b(?!-)`)
    const places = files.filter(({ file, text }) => file === own[0] || named.test(text)).map(({ file }) => file)
    expect(places.sort()).toEqual(own.sort())
    expect(places.length).toBeLessThanOrEqual(MAX_ADAPTER_PLACES)
  })
})
