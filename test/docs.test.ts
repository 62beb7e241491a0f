import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HOOK_NAMES } from '../src/define.ts'
import { ERRORS } from '../src/errors.ts'
import { PROFILES } from '../src/policy/tool-groups.ts'

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]
const text = (file: string) => readFileSync(file, 'utf8')

describe('the docs', () => {
  it('name every error code, and no code that is none', () => {
    const named = [...text('docs/errors.md').matchAll(/^\| `([A-Z_]+)`/gm)].map((match) => match[1])
    expect(named).toEqual(Object.keys(ERRORS))
    const codes = new Set(Object.keys(ERRORS))
    for (const page of pages) {
      const strangers = [...text(page).matchAll(/`([A-Z]+_[A-Z_]+)`/g)]
        .map((match) => match[1]!)
        .filter((code) => !codes.has(code))
      expect({ page, strangers }).toEqual({ page, strangers: [] })
    }
  })

  it('name every hook, in the order they fire', () => {
    const named = [...text('docs/road.md').matchAll(/^\| `([a-z]+)` \|/gm)].map((match) => match[1])
    expect(named).toEqual([...HOOK_NAMES])
  })

  it('name every profile', () => {
    for (const profile of PROFILES.keys()) expect(text('docs/policy.md')).toContain(`| ${profile} |`)
  })

  it('name every type of event that the record can hold', () => {
    const source = text('src/record/events.ts')
    const types = [...source.matchAll(/readonly type: '([a-z-]+)'/g)].map((match) => match[1]!)
    expect(types.length).toBeGreaterThan(8)
    for (const type of types) expect(text('docs/records.md')).toContain(`\`${type}\``)
  })

  it('name every option of a hub and of a call', () => {
    const page = text('docs/api.md')
    const hub = text('src/options.ts').split('export interface HubOptions')[1]!
    const options = [hub, text('src/call-options.ts')].flatMap((source) =>
      [...source.matchAll(/^ {2}readonly (\w+)\?:/gm)].map((match) => match[1]!),
    )
    expect(options.length).toBeGreaterThan(25)
    expect(options.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  it('link to pages that exist', () => {
    for (const page of pages) {
      const links = [...text(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map((match) =>
        join(dirname(page), match[1]!),
      )
      expect(links.filter((link) => !existsSync(link))).toEqual([])
    }
  })

  it('link to nothing that the package leaves out', () => {
    const { files } = JSON.parse(text('package.json')) as { files: string[] }
    for (const page of pages.filter((name) => name !== 'CONTRIBUTING.md')) {
      const links = [...text(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map((match) =>
        join(dirname(page), match[1]!),
      )
      const missing = links.filter((link) => !files.some((kept) => link === kept || link.startsWith(`${kept}/`)))
      expect({ page, missing }).toEqual({ page, missing: [] })
    }
  })

  it('justify every dependency in one line', () => {
    const { dependencies } = JSON.parse(text('package.json')) as { dependencies: Record<string, string> }
    const page = text('docs/dependencies.md')
    expect(Object.keys(dependencies).filter((name) => !page.includes(`| ${name} |`))).toEqual([])
  })

  it('have the two commands of a fresh machine', () => {
    expect(text('README.md')).toContain('npm ci && npm start')
    const test = 'npm ci && npm test && npm run conformance'
    expect(text('README.md')).toContain(test)
    expect(text('.ci/run')).toContain(test)
  })
})
