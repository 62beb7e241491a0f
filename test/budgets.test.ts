import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sourceFiles } from './support/source-files.ts'

const sizes = sourceFiles('packages')
  .filter((file) => !/\.(test|test-d|generated|examples)\.ts$/.test(file))
  .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))

describe('the size of the source files', () => {
  it('has none over 400 lines', () => {
    expect(sizes.filter(({ lines }) => lines > 400)).toEqual([])
  })
})

describe('the words of the source files', () => {
  it('leave nothing undone', () => {
    const undone = sourceFiles('packages').filter((file) => /\b(TODO|FIXME|XXX)\b/.test(readFileSync(file, 'utf8')))
    expect(undone).toEqual([])
  })

  it('include no file or folder with a name that says nothing, such as utils', () => {
    // The tools of the group `core/util` are named after it.
    const files = sourceFiles('packages').filter((file) => !file.startsWith('packages/runtime/src/tools/util/'))
    expect(files.filter((file) => /\/(utils?|helpers?|misc|common)(\.ts$|\/)/.test(file))).toEqual([])
  })
})
