import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { VERSION } from '../packages/core/src/lib/text.ts'

it('every generated file is up to date', () => {
  const words = ['--import', './test/support/load-typescript.mjs', 'scripts/generate.mjs', '--check']
  expect(() => execFileSync(process.execPath, words, { stdio: 'pipe' })).not.toThrow()
})

it('the version in the code equals the version of the package', () => {
  expect(VERSION).toBe(JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8')).version)
})

it('the lock file names no registry', () => {
  for (const file of ['package-lock.json', 'bench/package-lock.json', 'conformance/package-lock.json']) {
    expect(readFileSync(file, 'utf8')).not.toMatch(/"resolved": *"http/)
  }
})
