import { describe, expect, it } from 'vitest'
import type { ProgramRequest } from '../../../contracts/commands.ts'
import { checkProgram } from './check-program.ts'

const check = (request: object) => checkProgram(request as ProgramRequest)

describe('a program to start', () => {
  it('is copied as it was asked for, with what nobody said left out', () => {
    const argv = ['node', '', 'x y']
    const checked = check({ argv })
    expect(checked).toEqual({ argv: ['node', '', 'x y'], env: {} })
    expect(checked.argv).not.toBe(argv)
    const all = { argv: ['node'], cwd: '/w', env: { A_1: '', _b: 'x' }, fence: { hosts: ['a.example'] } }
    expect(check(all)).toEqual({ ...all, fence: { readable: [], writable: [], hosts: ['a.example'] } })
    expect(check({ argv: ['x'], fence: { readable: ['/r'], writable: ['/w'] } }).fence).toEqual({
      ...{ readable: ['/r'], writable: ['/w'], hosts: [] },
    })
  })

  it.each([
    [{ argv: [] }, 'A program to start has no name.'],
    [{ argv: ['', 'x'] }, 'A program to start has no name.'],
    [{ argv: 'node' }, 'A program to start has no name.'],
    [{ argv: ['node', 7] }, 'A word of "node" is not text without NUL.'],
    [{ argv: ['node', 'a\0'] }, 'A word of "node" is not text without NUL.'],
    [{ argv: ['node'], env: { '1A': 'x' } }, '"1A" is no name for a variable.'],
    [{ argv: ['node'], env: { 'A=B': 'x' } }, '"A=B" is no name for a variable.'],
    [{ argv: ['node'], env: { '=A': 'x' } }, '"=A" is no name for a variable.'],
    [{ argv: ['node'], env: { '': 'x' } }, '"" is no name for a variable.'],
    [{ argv: ['node'], env: { A: 'hunter2\0' } }, 'The value of A is not text without NUL.'],
    [{ argv: ['node'], env: { A: 1 } }, 'The value of A is not text without NUL.'],
    [{ argv: ['node'], cwd: 'a\0' }, 'The folder to run in is not text without NUL.'],
    [{ argv: ['node'], cwd: 7 }, 'The folder to run in is not text without NUL.'],
  ])('is refused: %j', (request, message) => {
    expect(() => check(request)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message,
        fix: expect.objectContaining({
          hint: 'Correct the command, args, cwd or env of the program in tool-hub.yaml.',
        }),
      }),
    )
  })
})
