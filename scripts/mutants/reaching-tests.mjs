import { readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { readExports } from '../packages.mjs'

/** Loads what a file names in quotes: modules it imports, and modules it runs by their path below the root or in a package. */
const QUOTED = /'([^'\n]+)'/g
const TYPES_ONLY = /^(import|export) type [^']*'[^']*'/gm

/**
 * Who uses whom among the files of a tree, backwards: `importersOf(file)` are the files that name it, and
 * `testsOf(file)` are the test files that reach it, nearest first; `reaches(file, user)`: whether this one does.
 */
export function readUsers(root, files) {
  const known = new Set(files)
  const sourceOfExport = readExports(root)
  const users = new Map(files.map((file) => [file, []]))
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8').replaceAll(TYPES_ONLY, '')
    for (const [, name] of text.matchAll(QUOTED)) {
      const places = [
        join(dirname(file), name),
        normalize(name),
        sourceOfExport(name),
        `packages/${name.replace('/', '/src/')}.ts`,
      ]
      const used = places.find((place) => known.has(place))
      if (used !== undefined && used !== file) users.get(used).push(file)
    }
  }
  return {
    importersOf: (file) => [...new Set(users.get(file))],
    testsOf: (file) => testsOf(users, file),
    reaches: (file, user) => distancesFrom(users, file).has(user),
  }
}

function distancesFrom(users, start) {
  const distances = new Map([[start, 0]])
  for (const [file, distance] of distances) {
    for (const user of users.get(file)) if (!distances.has(user)) distances.set(user, distance + 1)
  }
  return distances
}

function testsOf(users, start) {
  const distances = distancesFrom(users, start)
  const tests = [...distances.keys()].filter((file) => file.endsWith('.test.ts'))
  const own = start.replace(/\.ts$/, '.test.ts')
  const home = nearestFolder(start, new Set(tests.map(dirname)))
  const words = wordsOf(start)
  return tests.sort((one, other) => rank(one) - rank(other))

  /**
   * Its own test, then those next to it or with a word of its name, which were written for it, then the fewest steps, where
   * those count less that lead to a test of the whole; at last the nearest folder.
   */
  function rank(file) {
    if (file === own) return Number.NEGATIVE_INFINITY
    const folder = dirname(file)
    const named = wordsOf(file).some((word) => words.includes(word)) ? 1000 : 0
    const bonus = named + (folder === home ? 1000 : start.startsWith(`${folder}/`) ? 6 : folder === 'test' ? 2 : 0)
    return (distances.get(file) - bonus) * 100 - sharedFolders(file, start)
  }
}

/** The words of the name of a file, or of what a test is called after. */
function wordsOf(file) {
  return basename(file).split('.', 1)[0].split('-')
}

/** The folder of a file, or the nearest above it, that is one of these. */
function nearestFolder(file, folders) {
  let folder = dirname(file)
  while (folder !== '.' && !folders.has(folder)) folder = dirname(folder)
  return folder
}

function sharedFolders(one, other) {
  const [left, right] = [one.split('/'), other.split('/')]
  const apart = left.findIndex((name, index) => name !== right[index])
  return apart === -1 ? left.length : apart
}
