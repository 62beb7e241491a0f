import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { syntaxLine } from './code-files.ts'

let folder: string
let file: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-syntax-'))
  file = join(folder, 'a.mjs')
})

afterAll(() => rm(folder, { recursive: true }))

const placed = (stack: string) => Object.assign(new SyntaxError('no such export'), { stack })

describe('the line of a module that cannot be imported', () => {
  it('is where Node cannot read it, and nothing of it is run', async () => {
    await writeFile(file, 'throw 1\n\nexport default { name: 1 execute: 2 }\n')
    expect(await syntaxLine(file, new SyntaxError("Unexpected identifier 'execute'"))).toBe(3)
  })

  it('is where the stack says it is, in this file only', async () => {
    await writeFile(file, 'throw 1\n')
    expect(await syntaxLine(file, placed(`file://${file}?version=1:2\nimport { x } from 'y'\n`))).toBe(2)
    expect(await syntaxLine(file, placed(`file://${folder}/b.mjs:2\nimport { x } from 'y'\n`))).toBeUndefined()
  })

  it('is not looked for when it is another error', async () => {
    await writeFile(file, 'export default {')
    expect(await syntaxLine(file, new Error('thrown on the way'))).toBeUndefined()
  })
})
