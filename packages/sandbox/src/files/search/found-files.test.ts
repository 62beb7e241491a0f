import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { createFilesRoot } from '../files-root.ts'
import { openRoots } from '../roots.ts'
import { type FileMatches, FoundFiles, fileCheck, fileTargets, linesOf } from './found-files.ts'

const anything = () => {}
const file = (name: string, matches = 1): FileMatches => ({ file: name, matches, lines: [] })

/** A file whose lines are all of the given kinds: `x` for a match, `.` for a line around one. */
const lined = (name: string, kinds: string, text = 't'): FileMatches => {
  const lines = [...kinds].map((kind, index) => ({ line: index + 1, text, isMatch: kind === 'x' }))
  return { file: name, matches: lines.filter(({ isMatch }) => isMatch).length, lines }
}

describe('what was found', () => {
  it('is sorted by the bytes of the paths, with the skipped files counted', () => {
    const found = new FoundFiles(anything, { maxFiles: 9 })
    for (const name of ['b', '\u{1F600}', 'a/b', '\uFF5E', 'a', 'B']) expect(found.add(file(name))).toBe(true)
    expect(found.sorted().map(({ file: name }) => name)).toEqual(['B', 'a', 'a/b', 'b', '\uFF5E', '\u{1F600}'])
    found.skip(2)
    found.skip(3)
    expect([found.skipped, found.isComplete]).toEqual([5, true])
  })

  it('ends after the last file that is wanted, and only then is it not complete', () => {
    const found = new FoundFiles(anything, { maxFiles: 2 })
    expect([found.add(file('a')), found.add(file('b')), found.isComplete]).toEqual([true, true, true])
    expect([found.add(file('c')), found.isComplete, found.sorted().length]).toEqual([false, false, 2])
  })

  it('ends after the last match that is wanted', () => {
    const found = new FoundFiles(anything, { maxFiles: 9, maxMatches: 3 })
    expect([found.add(file('a', 1)), found.add(file('b', 2)), found.isComplete]).toEqual([true, true, true])
    expect([found.add(file('c', 1)), found.isComplete, found.sorted().length]).toEqual([false, false, 2])
  })

  it.each<[string, number, number, string]>([
    ['without lines around it', 2, 0, 'x..x'],
    ['with the lines around it', 2, 1, 'x..x.'],
    ['with lines around it up to the next match', 2, 5, 'x..x..'],
    ['at the first match', 1, 1, 'x.'],
  ])('is cut inside of a file %s', (_, maxMatches, contextLines, kept) => {
    const found = new FoundFiles(anything, { maxFiles: 9, maxMatches, contextLines })
    expect(found.add(lined('a', 'x..x..x.'))).toBe(false)
    expect(found.isComplete).toBe(false)
    expect(found.sorted()).toEqual([lined('a', kept)])
  })

  it('has the lines around a cut match only if they were asked for', () => {
    const found = new FoundFiles(anything, { maxFiles: 9, maxMatches: 1 })
    found.add(lined('a', 'x.x'))
    expect(found.sorted()).toEqual([lined('a', 'x')])
  })

  it('ends once it has more than eight million characters', () => {
    const found = new FoundFiles(anything, { maxFiles: 9 })
    expect(found.add(lined('a', 'xx', 'y'.repeat(4_000_000)))).toBe(true)
    expect(found.add(lined('b', 'x', 'y'))).toBe(true)
    expect([found.add(lined('c', 'x', 'y')), found.isComplete]).toEqual([false, false])
    expect(found.sorted()).toHaveLength(2)
  })

  it('leaves out what is not wanted or denied, and fails when judging fails', () => {
    const judge = (name: string) => {
      if (name === 'denied') throw new ToolError('POLICY_DENIED', 'no')
      if (name === 'broken') throw new Error('broken')
    }
    const found = new FoundFiles(judge, { maxFiles: 9 }, (name) => name !== 'unwanted')
    expect(['a', 'denied', 'unwanted'].map((name) => found.accepts(name))).toEqual([true, false, false])
    expect(() => found.accepts('broken')).toThrow('broken')
    expect(new FoundFiles(judge, { maxFiles: 9 }).accepts('unwanted')).toBe(true)
    expect(found.skipped).toBe(0)
  })

  it('becomes lines with the names of their files', () => {
    expect(linesOf([lined('a', 'x.'), lined('b', 'x')])).toEqual([
      { file: 'a', line: 1, text: 't', isMatch: true },
      { file: 'a', line: 2, text: 't', isMatch: false },
      { file: 'b', line: 1, text: 't', isMatch: true },
    ])
  })
})

describe('a file below the searched folder', () => {
  const root = temporaryFolder('found-files')
  mkdirSync(join(root, 'd'))
  const withRoots = <T>(use: (roots: ReturnType<typeof openRoots>) => T): T => {
    const roots = openRoots([
      { path: root, mode: 'write' },
      { path: join(root, 'd'), mode: 'read' },
    ])
    try {
      return use(roots)
    } finally {
      roots.close()
    }
  }

  it('belongs to the deepest root that holds it', () => {
    withRoots((roots) => {
      const target = fileTargets(roots, roots.locate('.'))
      expect(target('a/b')).toMatchObject({ names: ['a', 'b'], path: join(root, 'a/b'), root: { mode: 'write' } })
      expect(target('d/b')).toMatchObject({ names: ['b'], path: join(root, 'd/b'), root: { mode: 'read' } })
      const files = ['a/c', 'a/c', 'ab/c', 'a', 'd/b/c', 'd/c', 'c', 'a/b/c', 'a/b/d', 'a/bc/d']
      for (const file of files) expect(target(file)).toEqual(fileTargets(roots, roots.locate('.'))(file))
    })
  })

  it.each(['../x', 'a/../x', './x', 'a//x', '/x', 'x/', ''])('has a plain path, not %j', (name) => {
    withRoots((roots) =>
      expect(() => fileTargets(roots, roots.locate('.'))(name)).toThrow(
        expect.objectContaining({ code: 'PATH_DENIED' }),
      ),
    )
  })

  it('has a plain path below / too', () => {
    const roots = openRoots([{ path: '/', mode: 'read' }])
    expect(fileTargets(roots, roots.locate('/'))('etc/x').path).toBe('/etc/x')
    roots.close()
  })

  it('is judged as one that is read', () => {
    withRoots((roots) => {
      const asked: string[] = []
      const permits = (path: string, use: string) => asked.push(`${use} ${path}`)
      const never = new AbortController().signal
      const call = { signal: () => never, canRead: true, canWrite: false, canOverwrite: false, permits }
      const judge = fileCheck(createFilesRoot(roots, 1, []), call, fileTargets(roots, roots.locate('.')))
      judge('a')
      expect(asked).toEqual([`read ${join(root, 'a')}`])
      expect(() => judge('.env')).toThrow(expect.objectContaining({ code: 'PATH_DENIED' }))
    })
  })
})
