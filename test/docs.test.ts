import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../src/core/errors.ts'
import { HOOK_NAMES } from '../src/core/tool.ts'
import { scriptFailureKind } from '../src/features/code/schema.ts'
import { PROFILES } from '../src/policy/visibility.ts'
import { PAGES } from './support/markdown-blocks.ts'

const pages = [...PAGES, 'CONTRIBUTING.md', 'CONVENTIONS.md', 'CONTEXT.md']
/** Pages that are generated: their words come from the code. */
const GENERATED = ['cli', 'config', 'errors', 'tools'].map((name) => `docs/reference/${name}.md`)
const written = pages.filter((page) => !GENERATED.includes(page))
/** Words to replace by those of the field, outside of code; CONVENTIONS.md has the table. */
const ODD_WORDS =
  /\b(?:unless said|gives? back|given back|goes on|at once|whoever|(?:is|are) told|hears? of|the road|doorkeeper|visitor|desk|jail(?:ed)?|abilit(?:y|ies)|an ask|the asks?|S[0-4](?:-\d+|'s))\b/gi
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
    const source = ['events', 'run-events'].map((name) => text(`src/records/log/${name}.ts`)).join('\n')
    const types = [...source.matchAll(/readonly type: '([a-z-]+)'/g)].map((match) => match[1]!)
    expect(types.length).toBeGreaterThan(8)
    for (const type of types) expect(text('docs/reference/records.md')).toContain(`\`${type}\``)
  })

  it('list every option of a hub and of a call', () => {
    const page = text('docs/reference/api.md')
    const hub = text('src/core/options.ts').split('export interface HubOptions')[1]!
    const call = text('src/core/call.ts').split('export interface CallOptions')[1]!.split('\n}')[0]!
    const options = [hub, call].flatMap((source) =>
      [...source.matchAll(/^ {2}readonly (\w+)\?:/gm)].map((match) => match[1]!),
    )
    expect(options.length).toBeGreaterThan(25)
    expect(options.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
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
    const { files } = JSON.parse(text('package.json')) as { files: string[] }
    for (const page of PAGES) {
      const missing = linksOf(page).filter(
        ({ file }) => !files.some((kept) => file === kept || file.startsWith(`${kept}/`)),
      )
      expect({ page, missing }).toEqual({ page, missing: [] })
    }
  })

  it('are all listed in the index', () => {
    const listed = new Set(linksOf('docs/README.md').map(({ file }) => file))
    expect(PAGES.filter((page) => !/README\.md$/.test(page) && !listed.has(page))).toEqual([])
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
    const { dependencies } = JSON.parse(text('package.json')) as { dependencies: Record<string, string> }
    const page = text('docs/reference/dependencies.md')
    expect(Object.keys(dependencies).filter((name) => !page.includes(`| ${name} |`))).toEqual([])
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
