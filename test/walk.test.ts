import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

/** The most source files and functions that one warm call may visit, for each journey of scripts/walk/journeys.mjs. */
const MAX_FILES = { library: 45, http: 68, approval: 80, mcp: 118 }
const MAX_FUNCTIONS = { library: 220, http: 353, approval: 430, mcp: 830 }

interface Journey {
  readonly name: keyof typeof MAX_FILES
  readonly files: number
  readonly functions: number
  readonly visited: readonly { readonly file: string; readonly functions: number }[]
}

describe('one warm call', () => {
  it('visits no more source files than it may', async () => {
    const journeys = await walk()
    expect(journeys.map(({ name }) => name)).toEqual(Object.keys(MAX_FILES))
    for (const { name, files, functions, visited } of journeys) {
      const names = visited.map(({ file }) => file)
      expect(files, `${name} visits ${names.join(', ')}`).toBeLessThanOrEqual(MAX_FILES[name])
      expect(functions).toBeGreaterThanOrEqual(files)
      expect(functions, `functions of ${name}`).toBeLessThanOrEqual(MAX_FUNCTIONS[name])
      // A measure that sees nothing would pass as well.
      expect(files).toBeGreaterThan(10)
      expect(names).toEqual([...new Set(names)].sort())
      expect(names.filter((file) => !/^packages\/.+\.ts$/.test(file))).toEqual([])
    }
  })
})

async function walk(): Promise<Journey[]> {
  const args = ['--import', './test/support/load-typescript.mjs', 'scripts/walk.mjs', '--json']
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 })
  return JSON.parse(stdout)
}
