import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

/** The heading of a release: its version and its date. */
const RELEASE = /^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$/

const CHANGELOG = `# Changelog

## [Unreleased]

### Fixed
- An older fix.

## [0.1.0]

### Fixed
- A released fix.
`

/** The packages of a project, and whether each is private. */
const PACKAGES = [
  ['base', '@tool-hub/base', false],
  ['core', '@tool-hub/core', true],
  ['tool-hub', 'tool-hub', false],
] as const

describe('npm run changelog', () => {
  it('accepts the changesets of this project', () => {
    expect(run('.', ['--check'])).toMatchObject({ status: 0, stderr: '' })
  })

  it('moves every changeset to its section of [Unreleased], and names the next version', () => {
    const folder = project({
      'a-fix': 'patch\n---\n\nThe first fix,\nin two lines.\n',
      'b-fix': 'patch\n---\nThe second fix costs $& and $1.',
      'c-feature': 'minor\n---\n\nA feature.',
      'd-hole': 'patch\n---\n\nSecurity: A hole is closed.',
    })
    expect(run(folder).stdout).toBe('Moved 4 of .changeset/ to CHANGELOG.md. Next version: 0.2.0.\n')
    expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toBe(`# Changelog

## [Unreleased]

### Fixed
- The first fix,
  in two lines.
- The second fix costs $& and $1.
- An older fix.

### Security
- A hole is closed.

### Added
- A feature.

## [0.1.0]

### Fixed
- A released fix.
`)
    expect(readdirSync(join(folder, '.changeset'))).toEqual(['README.md'])
    expect(run(folder).stdout).toBe('There are no changesets.\n')
  })

  it('raises the version of all packages for the largest bump of any, because they are one group', () => {
    const folder = project({ one: 'patch\n"@tool-hub/base": minor\n---\n\nA change.', two: 'patch\n---\n\nA fix.' })
    expect(run(folder).stdout).toContain('Next version: 0.2.0.')
    const { fixed } = JSON.parse(readFileSync('.changeset/config.json', 'utf8')) as { fixed: readonly string[][] }
    expect(fixed).toEqual([['tool-hub', '@tool-hub/*']])
  })

  it.each([
    ['patch', '0.1.0', '0.1.1'],
    ['major', '0.1.0', '0.2.0'],
    ['minor', '1.2.3', '1.3.0'],
    ['major', '1.2.3', '2.0.0'],
  ])('raises the version for %s from %s to %s', (bump, version, next) => {
    const folder = project({ one: `${bump}\n---\n\nA change.` }, { version })
    expect(run(folder).stdout).toContain(`Next version: ${next}.`)
  })

  it.each([
    ['at the end', ''],
    ['above a release', '\n## [0.1.0] - 2026-11-19\n\n### Added\n- A released feature.\n'],
  ])('works on an [Unreleased] section that is empty, %s', (_, released) => {
    const folder = project(
      { one: 'minor\n---\n\nA feature.' },
      { changelog: `# Changelog\n\n## [Unreleased]\n${released}` },
    )
    run(folder)
    const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
    expect(changelog).toBe(`# Changelog\n\n## [Unreleased]\n\n### Added\n- A feature.\n${released}`)
  })

  it('adds changesets to the changelog of this project, and leaves its releases as they are', () => {
    const changelog = readFileSync('CHANGELOG.md', 'utf8')
    const folder = project({ one: 'minor\n---\n\nA feature.', two: 'patch\n---\n\nA fix.' }, { changelog })
    run(folder)
    const [before, unreleased, ...releases] = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m)
    expect([before, ...releases]).toEqual(changelog.split(/^(?=## )/m).toSpliced(1, 1))
    expect(unreleased).toMatch(/^### Added\n- A feature\.$/m)
    expect(unreleased).toMatch(/^### Fixed\n- A fix\.$/m)
  })

  it.each([
    ['tiny\n---\n\nA change.', 'must say "@tool-hub/base" or "tool-hub": patch, minor, major'],
    [
      'patch\n"@tool-hub/core": patch\n---\n\nA change.',
      'must say "@tool-hub/base" or "tool-hub": patch, minor, major',
    ],
    ['patch\n---\n\n', 'has no text for users'],
    ['patch\n---\n\nOne.\n\nTwo.', 'has several paragraphs'],
    ['patch', 'has no front matter'],
  ])('names a changeset that is invalid and writes nothing: %j', (body, message) => {
    const folder = project({ good: 'patch\n---\n\nA change.', wrong: body })
    const { status, stderr } = run(folder)
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(`.changeset/wrong.md ${message}`) })
    expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toBe(CHANGELOG)
    expect(readdirSync(join(folder, '.changeset'))).toContain('good.md')
  })
})

describe('CHANGELOG.md', () => {
  const lines = readFileSync('CHANGELOG.md', 'utf8').split('\n')
  const [first, ...releases] = lines.filter((line) => line.startsWith('## '))

  it('begins with [Unreleased], and has a version and a date for each release', () => {
    expect(first).toBe('## [Unreleased]')
    expect(releases.filter((line) => !RELEASE.test(line))).toEqual([])
  })

  it('lists the releases from the newest, which is the version of the package, to the oldest', () => {
    const { version } = JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8')) as { version: string }
    const versions = releases.map((line) => RELEASE.exec(line)![1]!)
    const dates = releases.map((line) => RELEASE.exec(line)![2]!)
    const byNumbers = new Intl.Collator('en', { numeric: true }).compare
    expect(versions[0]).toBe(version)
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => byNumbers(b, a)))
    expect(dates).toEqual(dates.toSorted().reverse())
  })

  it('has only the sections that changesets have', () => {
    const sections = new Set(lines.filter((line) => line.startsWith('### ')))
    const known = ['Added', 'Changed', 'Fixed', 'Removed', 'Security'].map((name) => `### ${name}`)
    expect([...sections].filter((section) => !known.includes(section))).toEqual([])
  })

  it('has each section of a release once, after a blank line', () => {
    for (const release of lines.join('\n').split(/^(?=## )/m)) {
      const sections = release.split('\n').filter((line) => line.startsWith('### '))
      expect(sections).toEqual([...new Set(sections)])
    }
    expect(lines.filter((line, index) => line.startsWith('### ') && lines[index - 1] !== '')).toEqual([])
  })
})

/** A project whose changesets are given from their bump on. */
function project(changesets: Record<string, string>, { version = '0.1.0', changelog = CHANGELOG } = {}): string {
  const folder = temporaryFolder('changelog')
  mkdirSync(join(folder, '.changeset'))
  for (const [unit, name, isPrivate] of PACKAGES) {
    mkdirSync(join(folder, 'packages', unit), { recursive: true })
    const manifest = { name, version, private: isPrivate }
    writeFileSync(join(folder, 'packages', unit, 'package.json'), JSON.stringify(manifest))
  }
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
  writeFileSync(join(folder, '.changeset/README.md'), '# Changesets\n')
  for (const [name, body] of Object.entries(changesets))
    writeFileSync(join(folder, '.changeset', `${name}.md`), `---\n"tool-hub": ${body}`)
  return folder
}

function run(folder: string, args: string[] = []) {
  return spawnSync(process.execPath, [resolve('scripts/changelog.mjs'), ...args], { cwd: folder, encoding: 'utf8' })
}
