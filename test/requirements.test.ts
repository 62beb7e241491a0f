import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Requirements without a test in `test/requirements/` yet: the file of another test, and words of its name. */
const SHOWN: Readonly<Record<string, readonly [file: string, test: string]>> = {
  // Tool module (S2)
  'S2-3': ['test/containment/containment.test.ts', 'commands that try to get out'],
  'S2-10': ['src/pipeline.test.ts', 'keeps a thrown error of ours, and hides a defect'],
  'S2-16': ['src/sources/mcp/mcp-source.test.ts', 'connects all of them, and finds out which protocol they speak'],
  'S2-18': ['src/sources/mcp/mcp-source.test.ts', 'ends calls of a server that is killed, starts it again'],
}

const FOLDER = 'test/requirements'

/** How many requirements each document has. */
const COUNTS = { S0: 56, S1: 22, S2: 20, S3: 19, S4: 28 }
const NUMBERS = Object.entries(COUNTS).flatMap(([document, count]) =>
  Array.from({ length: count }, (_, index) => `${document}-${index + 1}`),
)

/** The file that has the test of each number. */
const PROVEN = new Map(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => {
      const tests = readFileSync(`${FOLDER}/${name}`, 'utf8').matchAll(/^ *it\('(S\d-\d+) /gm)
      return [...tests].map(([, number]) => [number!, `${FOLDER}/${name}`] as const)
    }),
)

describe('requirements', () => {
  it('each have a test in their folder, or another one', () => {
    expect(NUMBERS).toHaveLength(145)
    expect(NUMBERS.filter((number) => !PROVEN.has(number) && !Object.hasOwn(SHOWN, number))).toEqual([])
    expect([...PROVEN.keys()].filter((number) => !NUMBERS.includes(number))).toEqual([])
    expect(Object.keys(SHOWN).filter((number) => PROVEN.has(number))).toEqual([])
  })

  it('are listed in the README, each in one line with the file of its test', () => {
    const rows = readFileSync(`${FOLDER}/README.md`, 'utf8').matchAll(/^\| (S\d-\d+) \| .+ \| `(.+)` \|$/gm)
    const listed = [...rows].map(([, number, file]) => `${number} ${file}`)
    expect(listed).toEqual(NUMBERS.map((number) => `${number} ${PROVEN.get(number) ?? SHOWN[number]?.[0]}`))
  })

  for (const [number, [file, test]] of Object.entries(SHOWN)) {
    it(`${number} is shown by a test that exists`, () => {
      // The first argument of `it`, `describe`, or of what their `each` returns.
      const names = [...readFileSync(file, 'utf8').matchAll(/\(\s*(['`"])(.*?)\1,/gs)].map((match) => match[2]!)
      expect(names.filter((name) => name.includes(test))).not.toEqual([])
    })
  }
})
