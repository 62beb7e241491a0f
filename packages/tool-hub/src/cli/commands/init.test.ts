import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { cliFolder } from '../../../../../test/support/cli.ts'

it('writes a config that works, once', async () => {
  const first = cliFolder('')
  writeFileSync(join(first.path, 'tool-hub.yaml'), 'mine: true')
  expect((await first.run(['init'])).code).toBe(2)
  expect(readFileSync(join(first.path, 'tool-hub.yaml'), 'utf8')).toBe('mine: true')
  expect((await first.run(['init', '--force'])).code).toBe(0)
  expect((await first.run(['policy', 'check'])).code).toBe(0)
  first.remove()
})

/** The files that the config of a new project names for editors and readers, as absolute paths. */
async function namedFiles(prepare: (folder: string) => void) {
  const folder = cliFolder('')
  try {
    prepare(folder.path)
    expect((await folder.run(['init', '--force'])).code).toBe(0)
    const text = readFileSync(join(folder.path, 'tool-hub.yaml'), 'utf8')
    const schema = /^# yaml-language-server: \$schema=(\S+)$/m.exec(text)![1]!
    const reference = /Every key: (.+)\.$/m.exec(text)![1]!
    const files = [fileURLToPath(new URL(schema, `${pathToFileURL(folder.path)}/`)), resolve(folder.path, reference)]
    return { schema, reference, missing: files.filter((file) => !existsSync(file)) }
  } finally {
    folder.remove()
  }
}

it('names the schema and the reference in this installation if the project has none', async () => {
  const { schema, missing } = await namedFiles(() => {})
  expect(schema).toMatch(/^file:\/\/\//)
  expect(missing).toEqual([])
})

it('names the schema and the reference in the project if it has the package', async () => {
  const { missing, ...named } = await namedFiles((folder) => {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(resolve('packages/tool-hub'), join(folder, 'node_modules', 'tool-hub'))
  })
  expect(named).toEqual({
    schema: './node_modules/tool-hub/config.schema.json',
    reference: 'node_modules/tool-hub/docs/reference/config.md',
  })
  expect(missing).toEqual([])
})
