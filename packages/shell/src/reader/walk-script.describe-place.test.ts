import { describe, expect, it } from 'vitest'
import { readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
/** Where a line has the command `id`. */
const whereOf = (line: string) => {
  const { parts } = readCommandLine(line, PLACE, () => ({ hasError: false, names: [] }))
  return parts.find(({ words }) => words[0] === 'id')!.where
}
const words = (count: number) => 'x '.repeat(count)

describe('the place of a command in a line', () => {
  it.each([
    ['ls $(id)', 'inside `$(…)` of the first argument'],
    ['ls `id`', 'inside backticks of the first argument'],
    ['ls <(id)', 'inside `<(…)` of the first argument'],
    [`ls ${words(1)}$(id)`, 'inside `$(…)` of the second argument'],
    [`ls ${words(9)}$(id)`, 'inside `$(…)` of the tenth argument'],
    [`ls ${words(10)}$(id)`, 'inside `$(…)` of argument 11'],
    ['cat <<E\n$(id)\nE', 'inside `$(…)` of the here-document'],
    ['cat <<<$(id)', 'inside `$(…)` of the here-string'],
    ['ls > $(id)', 'inside `$(…)` of a redirection'],
    ['env id', 'behind `env`'],
    ['sh -c id', 'in the text of `sh`'],
    ['env nice id', 'behind `nice`, behind `env`'],
    ['id', undefined],
  ])('%j is %s', (line, where) => {
    expect(whereOf(line)).toBe(where)
  })

  it('is described by its outer places if it is nested very deep', () => {
    // Each adds 14 characters, and 12 of them 166.
    const wrapped = (count: number) => whereOf(`${'env '.repeat(count)}id`)!
    expect(wrapped(12)).toBe(Array.from({ length: 12 }, () => 'behind `env`').join(', '))
    expect(wrapped(13)).toBe(wrapped(12))
  })
})
