import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { bundleModule } from '../../test/support/run-module.ts'
import { JsonState } from './json-state.ts'

const schema = z.strictObject({ version: z.literal(1), names: z.array(z.string()) })
const empty = { version: 1, names: [] } as const satisfies z.infer<typeof schema>

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'json-state-'))
  path = join(folder, 'data', 'names.json')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const open = (maxBytes?: number) =>
  new JsonState<z.infer<typeof schema>>({ path, schema, empty: { ...empty }, what: 'The names', maxBytes })
const add = (name: string) => (before: z.infer<typeof schema>) => ({ ...before, names: [...before.names, name] })
const unusable = (message: RegExp) =>
  expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) })

describe('a small file of state', () => {
  it('is empty until something is saved', () => {
    expect(open().read()).toEqual(empty)
  })

  it('keeps what is saved, for nobody else to read, and leaves nothing beside it', async () => {
    open().update(add('ada'))
    expect(open().read().names).toEqual(['ada'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o700)
    expect(await readdir(join(folder, 'data'))).toEqual(['created.json', 'names.json'])
  })

  it('sees at once what another has saved', () => {
    const [one, other] = [open(), open()]
    one.update(add('ada'))
    expect(other.read().names).toEqual(['ada'])
    other.update(add('bob'))
    expect(one.read().names).toEqual(['ada', 'bob'])
  })

  it('writes nothing when nothing changes', async () => {
    const state = open()
    state.update(add('ada'))
    const before = await stat(path)
    state.update((names) => names)
    expect((await stat(path)).ino).toBe(before.ino)
  })

  it('leaves the file as it was when a change fails, and can be used again', () => {
    const state = open()
    state.update(add('ada'))
    expect(() =>
      state.update(() => {
        throw new Error('no')
      }),
    ).toThrow('no')
    expect(() => state.update(() => ({ version: 1, names: [3 as unknown as string] }))).toThrow(z.ZodError)
    state.update(add('bob'))
    expect(state.read().names).toEqual(['ada', 'bob'])
  })

  it('loses no update of two processes that write at once', async () => {
    const bundled = await bundleModule('src/store/json-state.ts')
    const script = join(folder, 'script.mjs')
    await writeFile(
      script,
      `import { JsonState } from ${JSON.stringify(bundled)}
       const state = new JsonState({ path: process.argv[2], schema: { parse: (x) => x }, empty: { version: 1, names: [] }, what: 'x' })
       for (let i = 0; i < 20; i++) state.update((before) => ({ ...before, names: [...before.names, process.argv[3] + i] }))`,
    )
    const run = promisify(execFile)
    await Promise.all(['a', 'b'].map((name) => run(process.execPath, [script, path, name])))
    expect(new Set(open().read().names).size).toBe(40)
  })
})

describe('a file that cannot be used', () => {
  beforeEach(() => {
    open().update(add('ada'))
  })

  it.each([
    ['no JSON', '{'],
    ['another shape', '{"version":2,"names":[]}'],
  ])('is told and left alone: %s', async (_, content) => {
    await writeFile(path, content)
    expect(() => open().read()).toThrow(unusable(/The names in .*names\.json cannot be used: /))
    expect(() => open().read()).toThrow(expect.objectContaining({ fix: { hint: 'Correct or delete the file.' } }))
    expect(() => open().update(add('bob'))).toThrow(unusable(/cannot be used/))
    expect(await readFile(path, 'utf8')).toBe(content)
  })

  it('is used again once it is corrected', async () => {
    const state = open()
    await writeFile(path, '{')
    expect(() => state.read()).toThrow(unusable(/cannot be used/))
    await writeFile(path, '{"version":1,"names":["eve"]}')
    expect(state.read().names).toEqual(['eve'])
  })

  it('is one that others can write to, or put another in place of', async () => {
    await chmod(path, 0o666)
    expect(() => open().read()).toThrow(unusable(/can be written by other users/))
    await chmod(path, 0o600)
    await chmod(join(folder, 'data'), 0o777)
    expect(() => open().read()).toThrow(unusable(/can be written by other users/))
  })

  it('is a link', async () => {
    await rm(path)
    await writeFile(join(folder, 'elsewhere'), '{"version":1,"names":["eve"]}')
    await symlink(join(folder, 'elsewhere'), path)
    expect(() => open().read()).toThrow(unusable(/symbolic link/))
  })

  it('is one over its limit, which is never written either', async () => {
    const content = await readFile(path, 'utf8')
    expect(() => open(10).read()).toThrow(unusable(/the limit is 10/))
    const bytes = Buffer.byteLength(content)
    open(bytes).update(() => ({ version: 1, names: ['bob'] }))
    await rm(path)
    expect(() => open(bytes - 1).update(add('ada'))).toThrow(
      `${path} would have ${bytes} bytes, the limit is ${bytes - 1}.`,
    )
    open(bytes).update(add('ada'))
    expect(() => open(60).update(add('a'.repeat(60)))).toThrow(expect.objectContaining({ code: 'FILE_TOO_LARGE' }))
    expect(await readFile(path, 'utf8')).toBe(content)
  })
})
