import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { applyPatch } from './apply-patch.ts'
import { edit } from './edit.ts'

const POLICY = [{ allow: 'read:fs' }, { allow: 'write:fs' }, { allow: 'danger:destructive' }] as const

it('an edit of any file changes the bytes of its place and no others', async () => {
  const { call, root } = fileHub({}, { tools: [edit] })
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '\r\n', 'é', '😀', '“'), maxLength: 40 })
  const mark = fc.constantFrom('', '\ufeff')
  let file = 0
  await fc.assert(
    fc.asyncProperty(mark, text, text, fc.integer({ min: 0, max: 999 }), async (start, head, tail, number) => {
      const path = `${++file}.txt`
      writeFileSync(join(root, path), `${start}${head}<old>${tail}`)
      const { error } = await call('core/fs.edit', { path, oldText: '<old>', newText: `new ${number}` })
      expect(error).toBeUndefined()
      expect(readFileSync(join(root, path))).toEqual(Buffer.from(`${start}${head}new ${number}${tail}`))
    }),
    { numRuns: 40 },
  )
})

it('a patch happens as a whole or not at all', async () => {
  const { call, root } = fileHub({}, { tools: [applyPatch], policy: POLICY })
  const parts = [
    (at: string) => `*** Update File: ${at}/a.txt\n-a1\n+A1`,
    (at: string) => `*** Delete File: ${at}/b.txt`,
    (at: string) => `*** Update File: ${at}/c.txt\n*** Move to: ${at}/moved/c.txt\n-c1\n+C1`,
    (at: string) => `*** Add File: ${at}/new/d.txt\n+d1`,
  ]
  const broken = [
    (at: string) => `*** Update File: ${at}/e.txt\n-not there\n+x`,
    (at: string) => `*** Add File: ${at}/e.txt\n+exists`,
    (at: string) => `*** Delete File: ${at}/missing.txt`,
    (at: string) => `*** Add File: ${at}/e.txt/below.txt\n+under a file`,
  ]
  let folder = 0
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(parts, { minLength: 1 }),
      fc.constantFrom(undefined, ...broken),
      async (good, bad) => {
        const at = `${++folder}`
        const place = join(root, at)
        mkdirSync(place)
        for (const name of ['a', 'b', 'c', 'e']) writeFileSync(join(place, `${name}.txt`), `${name}1\n`)
        const sections = [...good, ...(bad ? [bad] : [])].map((write) => write(at))
        const result = await call('core/fs.applyPatch', {
          input: `*** Begin Patch\n${sections.join('\n')}\n*** End Patch`,
        })
        expect(result.ok).toBe(bad === undefined)
        const after = tree(place)
        const has = (part: (typeof parts)[number]) => bad === undefined && good.includes(part)
        expect(after).toEqual({
          'a.txt': has(parts[0]!) ? 'A1\n' : 'a1\n',
          ...(has(parts[1]!) ? {} : { 'b.txt': 'b1\n' }),
          ...(has(parts[2]!) ? { 'moved/c.txt': 'C1\n' } : { 'c.txt': 'c1\n' }),
          'e.txt': 'e1\n',
          ...(has(parts[3]!) && { 'new/d.txt': 'd1\n' }),
        })
      },
    ),
    { numRuns: 30 },
  )
})

function tree(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]))
}
