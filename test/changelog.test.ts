import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

const CHANGELOG = `# Changelog

## [Unreleased]

### Fixed
- An older fix.

## [0.1.0]

### Fixed
- A released fix.
`

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

  it.each([
    ['patch', '0.1.0', '0.1.1'],
    ['major', '0.1.0', '0.2.0'],
    ['minor', '1.2.3', '1.3.0'],
    ['major', '1.2.3', '2.0.0'],
  ])('raises the version for %s from %s to %s', (bump, version, next) => {
    const folder = project({ one: `${bump}\n---\n\nA change.` }, { version })
    expect(run(folder).stdout).toContain(`Next version: ${next}.`)
  })

  it('works on an [Unreleased] section that is empty', () => {
    const folder = project({ one: 'minor\n---\n\nA feature.' }, { changelog: '# Changelog\n\n## [Unreleased]\n' })
    run(folder)
    const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
    expect(changelog).toBe('# Changelog\n\n## [Unreleased]\n\n### Added\n- A feature.\n')
  })

  it.each([
    ['tiny\n---\n\nA change.', 'must say "tool-hub": patch, minor, major'],
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

/** A project whose changesets are given from their bump on. */
function project(changesets: Record<string, string>, { version = '0.1.0', changelog = CHANGELOG } = {}): string {
  const folder = temporaryFolder('changelog')
  mkdirSync(join(folder, '.changeset'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'tool-hub', version }))
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
  writeFileSync(join(folder, '.changeset/README.md'), '# Changesets\n')
  for (const [name, body] of Object.entries(changesets))
    writeFileSync(join(folder, '.changeset', `${name}.md`), `---\n"tool-hub": ${body}`)
  return folder
}

function run(folder: string, args: string[] = []) {
  return spawnSync(process.execPath, [resolve('scripts/changelog.mjs'), ...args], { cwd: folder, encoding: 'utf8' })
}
