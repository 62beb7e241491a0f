import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

/** Runs Node with nothing in /proc, as on a machine that has none. */
async function withoutProc(args: readonly string[], cwd: string) {
  const hidden = ['--dev-bind', '/', '/', '--tmpfs', '/proc', '--chdir', cwd, '--', process.execPath]
  return promisify(execFile)('bwrap', [...hidden, ...args])
}

const CLI = resolve('packages/tool-hub/dist/cli/main.js')
const CONFIG = 'sandbox: { root: files }\npolicy: [{ allow: write:fs }, { allow: danger:destructive }]\n'

function world() {
  const folder = temporaryFolder('without-proc')
  mkdirSync(join(folder, 'files/sub'), { recursive: true })
  writeFileSync(join(folder, 'files/sub/a.txt'), 'first\nsecond\n')
  writeFileSync(join(folder, 'tool-hub.yaml'), CONFIG)
  const call = async (tool: string, input: unknown) => {
    const { stdout } = await withoutProc([CLI, 'call', tool, JSON.stringify(input), '--json', '--run', 'r'], folder)
    return JSON.parse(stdout)
  }
  return { folder, call }
}

it('the file tools work without /proc, and the record says how they are guarded', async () => {
  const { folder, call } = world()
  expect((await call('core/fs.readText', { path: 'sub/a.txt' })).data.text).toContain('second')
  expect(await call('core/fs.writeText', { path: 'sub/new/b.txt', text: 'third' })).toMatchObject({ ok: true })
  const edit = { path: 'sub/a.txt', oldText: 'second', newText: 'changed' }
  expect(await call('core/fs.edit', edit)).toMatchObject({ ok: true })
  expect(await call('core/fs.searchText', { root: '.', query: 'changed', glob: '*.txt' })).toMatchObject({
    data: { matches: [expect.objectContaining({ lineNo: 2 })] },
  })
  expect(await call('core/fs.move', { from: 'sub/new', to: 'moved' })).toMatchObject({ ok: true })
  expect(await call('core/fs.deletePath', { path: 'sub', recursive: true, confirm: true })).toMatchObject({ ok: true })
  expect(readdirSync(join(folder, 'files'), { recursive: true }).sort()).toEqual(['moved', 'moved/b.txt'])
  const starts = readFileSync(join(folder, 'runs/r/events.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('call-started'))
  expect(starts.length).toBeGreaterThan(0)
  for (const line of starts) expect(JSON.parse(line)).toMatchObject({ files: 'paths' })
  await withoutProc([CLI, 'undo', '--run', 'r'], folder)
  expect(readFileSync(join(folder, 'files/sub/a.txt'), 'utf8')).toBe('first\nsecond\n')
})

it('doctor names the level', async () => {
  const { folder } = world()
  const { stdout } = await withoutProc([CLI, 'doctor'], folder)
  expect(stdout).toMatch(/^weak +files +level paths: /m)
})

it('no path of the attacks escapes without /proc', async () => {
  const folder = temporaryFolder('without-proc')
  const cases = readFileSync('test/attacks/paths.jsonl', 'utf8').split('\n')
  // Those with a race are those of test/race.test.ts.
  writeFileSync(join(folder, 'paths.jsonl'), cases.filter((line) => line && !JSON.parse(line).race).join('\n'))
  const args = ['--import', './test/support/load-typescript.mjs', 'scripts/attacks.mjs', '--json', '--corpus', folder]
  const { stdout } = await withoutProc(args, resolve('.'))
  const paths = JSON.parse(stdout).find(({ file }: { readonly file: string }) => file === 'paths.jsonl')
  expect(paths).toMatchObject({ escapes: 0, overStrict: 0 })
  expect(paths.cases).toBeGreaterThan(80)
})
