import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const FOLDER = 'test/requirements'

/** How many requirements each document has. */
const COUNTS = { S0: 56, S1: 22, S2: 20, S3: 19, S4: 28 }
const NUMBERS = Object.entries(COUNTS).flatMap(([document, count]) =>
  Array.from({ length: count }, (_, index) => `${document}-${index + 1}`),
)

/** Every test of a requirement: its number and its file. */
const TESTS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((name) => {
    const tests = readFileSync(`${FOLDER}/${name}`, 'utf8').matchAll(/^ *it\('(S\d-\d+) /gm)
    return [...tests].map(([, number]) => [number!, `${FOLDER}/${name}`] as const)
  })

describe('requirements', () => {
  it('each have a test in their folder', () => {
    expect(NUMBERS).toHaveLength(145)
    expect(new Set(TESTS.map(([number]) => number))).toEqual(new Set(NUMBERS))
  })

  it('are listed in requirements.tsv, each in one line with the file of its test', () => {
    const rows = readFileSync(`${FOLDER}/requirements.tsv`, 'utf8').matchAll(/^(S\d-\d+)\t.+\t(.+)$/gm)
    const fileOf = new Map(TESTS)
    const listed = [...rows].map(([, number, file]) => `${number} ${file}`)
    expect(listed).toEqual(NUMBERS.map((number) => `${number} ${fileOf.get(number)}`))
  })
})
