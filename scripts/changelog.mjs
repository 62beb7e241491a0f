// Moves every changeset of .changeset/ into CHANGELOG.md, below [Unreleased], and prints the next version. --check only
// validates them. Nothing is written if one of them is invalid. Run by npm run changelog; .changeset/README.md describes
// the files.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const FOLDER = '.changeset'
const CHANGELOG = 'CHANGELOG.md'
/** A text may begin with the name of its section. */
const SECTION_AND_TEXT = /^(?:(Added|Changed|Fixed|Removed|Security): *)?([\s\S]*)$/

/** Smallest first, each with the section of a change that names none. */
const SECTION_OF_BUMP = { patch: 'Fixed', minor: 'Added', major: 'Changed' }
const BUMPS = Object.keys(SECTION_OF_BUMP)

const { version } = JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8'))
/** The packages that are published. They are one group with one version: each changeset raises that of all. */
const PUBLISHED = readdirSync('packages')
  .map((unit) => JSON.parse(readFileSync(join('packages', unit, 'package.json'), 'utf8')))
  .filter(({ private: isPrivate }) => isPrivate !== true)
  .map(({ name }) => name)
const files = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .sort()

try {
  const changes = files.map(readChangeset)
  if (!process.argv.includes('--check')) fold(changes)
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

function readChangeset(file) {
  const path = join(FOLDER, file)
  const [, head, body] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(readFileSync(path, 'utf8')) ?? []
  if (head === undefined)
    throw new Error(`${path} has no front matter, such as "tool-hub": patch between two lines ---.`)
  const bumpOf = Object.entries(parse(head) ?? {})
  const isValid = ([name, bump]) => PUBLISHED.includes(name) && Object.hasOwn(SECTION_OF_BUMP, bump ?? '')
  if (bumpOf.length === 0 || !bumpOf.every(isValid)) {
    const names = PUBLISHED.map((name) => `"${name}"`).join(' or ')
    throw new Error(`${path} must say ${names}: ${BUMPS.join(', ')} in its front matter.`)
  }
  const bump = largestOf(bumpOf.map(([, each]) => each))
  const [, section = SECTION_OF_BUMP[bump], text] = SECTION_AND_TEXT.exec(body.trim())
  if (text === '') throw new Error(`${path} has no text for users.`)
  if (/\n\s*\n/.test(text)) throw new Error(`${path} has several paragraphs. Write one, or one changeset for each.`)
  return { path, bump, section, line: `- ${text.replaceAll(/\n\s*/g, '\n  ')}` }
}

function fold(changes) {
  if (changes.length === 0) {
    console.log('There are no changesets.')
    return
  }
  const changelog = changes.reduceRight(addLine, readFileSync(CHANGELOG, 'utf8'))
  writeFileSync(CHANGELOG, changelog)
  for (const { path } of changes) rmSync(path)
  const bump = largestOf(changes.map((change) => change.bump))
  console.log(`Moved ${changes.length} of ${FOLDER}/ to ${CHANGELOG}. Next version: ${nextVersion(bump)}.`)
}

/** Puts a line first in its section of [Unreleased], which is made if it is missing. */
function addLine(changelog, { section, line }) {
  const [, before, unreleased, after] =
    /^([\s\S]*?## \[Unreleased\]\n)([\s\S]*?)((?:\n## [\s\S]*)?)$/.exec(changelog) ?? []
  if (unreleased === undefined) throw new Error(`${CHANGELOG} has no section [Unreleased].`)
  const heading = `### ${section}\n`
  if (unreleased.includes(`\n${heading}`))
    return `${before}${unreleased.replace(heading, () => `${heading}${line}\n`)}${after}`
  const sections = [unreleased.trim(), `${heading}${line}`].filter((text) => text !== '')
  return `${before}\n${sections.join('\n\n')}\n${after}`
}

function largestOf(bumps) {
  return BUMPS.findLast((bump) => bumps.includes(bump))
}

/** Before 1.0 a breaking change raises the minor version. */
function nextVersion(bump) {
  const [major, minor, patch] = version.split('.').map(Number)
  if (bump === 'patch') return `${major}.${minor}.${patch + 1}`
  if (bump === 'minor' || major === 0) return `${major}.${minor + 1}.0`
  return `${major + 1}.0.0`
}
