import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ERRORS } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { scriptFailureKind } from '../packages/code/src/schema.ts'
import { FEATURES } from '../packages/core/src/features.generated.ts'
import { HOOK_NAMES } from '../packages/core/src/plugin.ts'
import { CAPABILITIES } from '../packages/core/src/tool.ts'
import { createMemoryStore } from '../packages/library/src/index.ts'
import { PROFILES } from '../packages/policy/src/visibility.ts'
import { PAGES } from './support/markdown-blocks.ts'

const CONTRIBUTOR_PAGES = ['SCOPE', 'CONTRIBUTING', 'CONVENTIONS', 'CONTEXT', 'REVIEW', 'SECURITY', 'AGENTS']
const pages = [...PAGES, ...CONTRIBUTOR_PAGES.map((name) => `${name}.md`)]
/** Pages that are generated: their words come from the code. */
const GENERATED = /^docs\/reference\/(?:(?:cli|config|errors|tools)\.md|(?:cli|tools)\/)/
const written = pages.filter((page) => !GENERATED.test(page))
/** Larger pages are split: nobody reads them, and an agent that opens one has nothing else in its context. */
const MAX_GENERATED_BYTES = 50_000
/** Words to replace by those of the field, outside of code; CONVENTIONS.md has the table. */
const ODD_WORDS =
  /\b(?:unless\s+said|gives?\s+back|given\s+back|goes\s+on|at\s+once|whoever|(?:is|are)\s+told|hears?\s+of|the road|doorkeeper|visitor|desk|jail(?:ed)?|abilit(?:y|ies)|an ask|the asks?|S[0-4](?:-\d+|'s))\b/gi
/** Members of the class that the type `Hub` leaves to other parts of the product. */
const INTERNAL_MEMBERS = new Set(['constructor', 'create', 'maxInputEntries', 'retention', 'sharing', 'sharedRecords'])
const text = (file: string) => readFileSync(file, 'utf8')

describe('the docs', () => {
  it('list every error code, and mention no unknown code', () => {
    const named = [...text('docs/reference/errors.md').matchAll(/^\| `([A-Z_]+)`/gm)].map((match) => match[1])
    expect(named).toEqual(Object.keys(ERRORS))
    const codes = new Set([...Object.keys(ERRORS), ...scriptFailureKind.options])
    for (const page of pages) {
      const strangers = [...text(page).matchAll(/`([A-Z]+_[A-Z_]+)`/g)]
        .map((match) => match[1]!)
        .filter((code) => !codes.has(code))
      expect({ page, strangers }).toEqual({ page, strangers: [] })
    }
  })

  it('list every hook in the order of the pipeline', () => {
    const hooks = text('docs/reference/pipeline.md').split('## Hooks')[1]!
    const named = [...hooks.matchAll(/^\| `([a-z]+)` \|/gm)].map((match) => match[1])
    expect(named).toEqual([...HOOK_NAMES])
  })

  it('list every profile', () => {
    for (const profile of PROFILES.keys()) expect(text('docs/reference/policy.md')).toContain(`| ${profile} |`)
  })

  it('list every event type of the record', () => {
    const source = ['events', 'run-events']
      .map((name) => text(`packages/runtime/src/records/log/${name}.ts`))
      .join('\n')
    const types = [...source.matchAll(/readonly type: '([a-z-]+)'/g)].map((match) => match[1]!)
    expect(types.length).toBeGreaterThan(8)
    for (const type of types) expect(text('docs/reference/records.md')).toContain(`\`${type}\``)
  })

  it('list every option of a hub and of a call', () => {
    const page = text('docs/reference/api.md')
    const hub = text('packages/core/src/options.ts').split('export interface HubOptions')[1]!
    const call = text('packages/core/src/call-options.ts').split('export interface CallOptions')[1]!.split('\n}')[0]!
    const options = [hub, call].flatMap((source) =>
      [...source.matchAll(/^ {2}readonly (\w+)\?:/gm)].map((match) => match[1]!),
    )
    expect(options.length).toBeGreaterThan(25)
    expect(options.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  it('list every public member of a hub', () => {
    const page = text('docs/reference/api.md').split('## Hub')[1]!
    const members = text('packages/runtime/src/hub/hub.ts')
      .split('class ToolHub')[1]!
      .matchAll(/^ {2}(?:async |get |readonly )?([a-z]\w*)(?=[<(:])/gm)
    const services = text('packages/cluster/src/membership/connect.ts')
      .split('interface FeatureServices')[1]!
      .split('\n  }')[0]!
      .matchAll(/^ {4}(?:readonly )?([a-z]\w*)(?=[(:])/gm)
    const names = [...new Set([...members, ...services].map((match) => match[1]!)), ...FEATURES].filter(
      (name) => !INTERNAL_MEMBERS.has(name),
    )
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter((name) => !new RegExp(`\`${name}[\`(]`).test(page))).toEqual([])
  })

  it('name only parts of a store that exist', () => {
    const guide = text('docs/guides/write-a-store.md')
    const [, first, rest] = /with one member per subject:([^.]*)\.[\s\S]*\n## 5\.([\s\S]*?)\n## /.exec(guide)!
    const named = [...`${first} ${rest}`.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
    const parts = Object.keys(createMemoryStore())
    expect(named.length).toBeGreaterThan(12)
    expect(named.filter((name) => !parts.includes(name))).toEqual([])
  })

  it('list every feature as an option and as a handle, and every capability', () => {
    const options = text('docs/reference/api.md').split('### Features')[1]!.split('\n### ')[0]!
    expect(FEATURES.filter((name) => !options.includes(`| \`${name}\` |`))).toEqual([])
    const context = text('docs/reference/contract.md').split('\n## ctx\n')[1]!
    expect(FEATURES.filter((name) => !new RegExp(`^\\|.*\`${name}\`.*\\|`, 'm').test(context))).toEqual([])
    const capabilities = /^The capabilities are[\s\S]*?\.\n/m.exec(text('docs/reference/contract.md'))![0]
    expect(CAPABILITIES.filter((name) => !capabilities.includes(`\`${name}\``))).toEqual([])
  })

  it('link to pages and headings that exist', () => {
    for (const page of pages) {
      const broken = linksOf(page).filter(
        ({ file, anchor }) => !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor)),
      )
      expect({ page, broken }).toEqual({ page, broken: [] })
    }
  })

  it('link only to files that the package contains', () => {
    const { files } = JSON.parse(text('packages/tool-hub/package.json')) as { files: string[] }
    for (const page of PAGES) {
      const missing = linksOf(page).filter(
        ({ file }) => !files.some((kept) => file === kept || file.startsWith(`${kept}/`)),
      )
      expect({ page, missing }).toEqual({ page, missing: [] })
    }
  })

  it('have the pages that the console names', () => {
    const sources = readdirSync('packages/console/src', { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('.test.'))
      .map((name) => text(join('packages/console/src', name)))
    const named = sources.flatMap((source) => source.match(/\bdocs\/[\w/.-]+\.md\b/g) ?? [])
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((page) => !existsSync(page))).toEqual([])
  })

  it('are all listed in the index', () => {
    const indexes = ['docs/README.md', 'docs/reference/cli.md', 'docs/reference/tools.md']
    const listed = new Set(indexes.flatMap(linksOf).map(({ file }) => file))
    expect(PAGES.filter((page) => !/README\.md$/.test(page) && !listed.has(page))).toEqual([])
  })

  it('have no generated page over 50 KB', () => {
    const large = pages.filter((page) => GENERATED.test(page) && statSync(page).size > MAX_GENERATED_BYTES)
    expect(large).toEqual([])
  })

  it('wrap at 120 characters, except in tables', () => {
    const long = written.flatMap((page) =>
      text(page)
        .split('\n')
        .flatMap((line, index) => (line.length > 120 && !line.startsWith('|') ? [`${page}:${index + 1}`] : [])),
    )
    expect(long).toEqual([])
  })

  it('use the words of the field', () => {
    const odd = written
      .filter((page) => page !== 'CONVENTIONS.md' && page !== 'CONTEXT.md')
      .flatMap((page) =>
        [
          ...text(page)
            .replaceAll(/`[^`\n]*`/g, '')
            .matchAll(ODD_WORDS),
        ].map(([word]) => `${page}: ${word}`),
      )
    expect(odd).toEqual([])
  })

  it('justify every dependency in one line', () => {
    const { dependencies } = JSON.parse(text('packages/tool-hub/package.json')) as {
      dependencies: Record<string, string>
    }
    const page = text('docs/reference/dependencies.md')
    expect(Object.keys(dependencies).filter((name) => !page.includes(`| ${name} |`))).toEqual([])
  })

  it('name the parsers that decide, which have exact versions', () => {
    const [section] = /^## Exact versions$[\s\S]*?(?=^## )/m.exec(text('docs/reference/dependencies.md'))!
    const listed = [...section.matchAll(/^- .*$/gm)].flatMap(([line]) => [...line.matchAll(/`([^`]+)`/g)])
    const names = listed.map(([, name]) => name!)
    expect(names).toEqual(expect.arrayContaining(['unbash', 'quickjs-wasi', 'sucrase', 're2js', 'json-p3', 'jose']))
    const lock = JSON.parse(text('package-lock.json')) as {
      packages: Record<string, { version?: string; dependencies?: object; devDependencies?: object }>
    }
    for (const root of [JSON.parse(text('packages/tool-hub/package.json')), lock.packages['packages/tool-hub']!]) {
      const versions = { ...JSON.parse(text('package.json')).devDependencies, ...root.dependencies }
      for (const name of names)
        expect([name, versions[name]]).toEqual([name, lock.packages[`node_modules/${name}`]!.version])
    }
  })

  it('have the two commands of a fresh machine', () => {
    expect(text('README.md')).toContain('npm ci && npm start')
    const test = 'npm ci && npm test && npm run conformance'
    expect(text('README.md')).toContain(test)
    expect(text('.ci/run')).toContain(test)
  })
})

/** Links of a page to files of the repository. */
function linksOf(page: string): { readonly file: string; readonly anchor?: string }[] {
  return [...text(page).matchAll(/\]\(([^):#\s]*)(?:#([^)\s]*))?\)/g)].map(([, path, anchor]) => ({
    file: path === '' ? page : join(dirname(page), path!),
    ...(anchor !== undefined && { anchor }),
  }))
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...text(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
