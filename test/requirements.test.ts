import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const FOLDER = 'test/requirements'

/** How many requirements each document has. */
const COUNTS = { S0: 56, S1: 22, S2: 20, S3: 19, S4: 28 }
const NUMBERS = Object.entries(COUNTS).flatMap(([document, count]) =>
  Array.from({ length: count }, (_, index) => `${document}-${index + 1}`),
)

/** The rows of the list: the number, what is required, the file and the name of a test. */
const ROWS = readFileSync(`${FOLDER}/requirements.tsv`, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'))

/** Every test in the folder, except the names of the documents, with its file. */
const TESTS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.test.ts') && name !== 'names.test.ts')
  .flatMap((file) => {
    const tests = readFileSync(`${FOLDER}/${file}`, 'utf8').matchAll(/^ *it\('(.+?)', (?:async )?\(/gm)
    return [...tests].map(([, name]) => `${file}: ${name}`)
  })

describe('requirements', () => {
  it('each have a test, and are listed in their order', () => {
    expect(NUMBERS).toHaveLength(145)
    expect([...new Set(ROWS.map(([number]) => number))]).toEqual(NUMBERS)
    expect(ROWS.filter((row) => row.length !== 4 || row.includes(''))).toEqual([])
  })

  it('are listed with the file and the name of each test in their folder', () => {
    const listed = ROWS.map(([, , file, name]) => `${file}: ${name}`)
    expect(listed.toSorted()).toEqual(TESTS.toSorted())
    expect(new Set(listed).size).toBe(listed.length)
  })
})
