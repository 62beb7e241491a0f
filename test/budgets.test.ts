import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sourceFiles } from './support/source-files.ts'

const sizes = sourceFiles('src')
  .filter((file) => !/\.(test|test-d|generated|examples)\.ts$/.test(file))
  .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
  .sort((a, b) => a.lines - b.lines)

describe('the size of the source files', () => {
  it('has a median of at most 100 lines', () => {
    expect(sizes[Math.floor((sizes.length - 1) / 2)]!.lines).toBeLessThanOrEqual(100)
  })

  it('has nine in ten of at most 250 lines', () => {
    expect(sizes[Math.ceil(sizes.length * 0.9) - 1]!.lines).toBeLessThanOrEqual(250)
  })

  it('has none over 400 lines', () => {
    expect(sizes.filter(({ lines }) => lines > 400)).toEqual([])
  })
})

describe('the words of the source files', () => {
  it('leave nothing undone', () => {
    const undone = sourceFiles('src').filter((file) => /\b(TODO|FIXME|XXX)\b/.test(readFileSync(file, 'utf8')))
    expect(undone).toEqual([])
  })

  it('have no rooms without a name: utils, helpers, misc', () => {
    expect(sourceFiles('src').filter((file) => /\/(utils?|helpers?|misc|common)\.ts$/.test(file))).toEqual([])
  })
})
