import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** Lines that an example must print, as its last comment says: a tool ran, and policy or a person decided. */
function linesOf(file: string): readonly string[] {
  const [, printed = ''] = readFileSync(join('examples', file), 'utf8').split('\n// Prints, among other lines:\n')
  return printed.split('\n').flatMap((line) => /^\/\/ {3}(.*)$/.exec(line)?.[1] ?? [])
}

interface Ended {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

describe('the examples, run against the built package', () => {
  const files = readdirSync('examples').sort()
  const cwd = mkdtempSync(join(tmpdir(), 'tool-hub-examples-'))
  const ended = new Map<string, Ended>()
  beforeAll(() => Promise.all(files.map(async (file) => ended.set(file, await run(file, cwd)))))
  afterAll(() => rmSync(cwd, { recursive: true, force: true }))

  it.each(files)('%s prints the expected lines in order and exits with 0', (file) => {
    const { code, stdout, stderr } = ended.get(file)!
    const lines = linesOf(file)
    expect(lines.length).toBeGreaterThan(2)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const places = lines.map((line) => [line, stdout.indexOf(line)] as const)
    expect(places.filter(([, place]) => place === -1)).toEqual([])
    expect(places).toEqual(places.toSorted(([, one], [, other]) => one - other))
  })

  it('leave no files in the working folder', () => {
    expect(readdirSync(cwd)).toEqual([])
  })
})

/** Without API keys of the environment: no example may call a real model. */
function run(file: string, cwd: string): Promise<Ended> {
  const env = { PATH: process.env.PATH, HOME: cwd }
  return new Promise((done) => {
    execFile(process.execPath, [resolve('examples', file)], { cwd, env, timeout: 100_000 }, (error, stdout, stderr) =>
      done({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    )
  })
}
