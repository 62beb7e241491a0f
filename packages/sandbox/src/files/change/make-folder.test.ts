import { symlinkSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'

let ws: ReturnType<typeof changing>

beforeEach(() => {
  ws = changing()
  ws.put('a.txt')
})
afterEach(() => ws.close())

it('makes a folder with those above it, and says whether it did', async () => {
  expect(await ws.handle().makeFolder('p/q')).toEqual({ path: ws.at('p/q'), created: true })
  expect(await ws.handle().makeFolder('p/q/')).toEqual({ path: ws.at('p/q'), created: false })
  expect(await ws.handle().makeFolder('.')).toEqual({ path: ws.root, created: false })
  expect(ws.journal.ops(ws.root)).toEqual(['make-folder p', 'make-folder p/q'])
})

it('makes no folders above when told not to', async () => {
  expect(await outcome(ws.handle().makeFolder('p/q', { mkdirp: false }))).toBe('NOT_FOUND')
  expect(ws.names()).toEqual(['a.txt'])
})

it('makes nothing over a file, a link or what is protected', async () => {
  symlinkSync('../out', ws.at('l'))
  symlinkSync('a.txt', ws.at('inside'))
  const make = (path: string) => outcome(ws.handle().makeFolder(path))
  expect(await make('a.txt')).toBe('CONFLICT')
  expect(await make('a.txt/x')).toBe('NOT_FOUND')
  expect(await make('l')).toBe('PATH_OUTSIDE_SANDBOX')
  expect(await make('l/x')).toBe('PATH_OUTSIDE_SANDBOX')
  expect(await make('inside')).toBe('PATH_DENIED')
  expect(await make('.git/hooks')).toBe('PATH_DENIED')
  expect(ws.outside()).toEqual(['secret.txt: SECRET'])
})
