import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type CliFolder, cliFolder, jsonLines } from '../../../../../test/support/cli.ts'
import { eventually } from '../../../../../test/support/eventually.ts'
import { startPostgres, type TestPostgres } from '../../../../../test/support/postgres.ts'

let server: TestPostgres
/** Two machines with one store: the first one has made the runs `first` and `second`, the other has none of their files. */
let one: CliFolder
let other: CliFolder
const folderOn = (schema: string) =>
  cliFolder(`plugins: [./plugin.mjs]\nstore: { url: "${server.url}", schema: ${schema} }\n`)
beforeAll(async () => {
  server = await startPostgres()
  one = folderOn('hub')
  other = folderOn('hub')
  for (const run of ['first', 'second'])
    expect(await one.run(['call', 'test/echo', '{"word":"signed"}', '--run', run])).toMatchObject({
      code: 0,
      stderr: '',
    })
})
afterAll(async () => {
  for (const folder of [one, other]) folder.remove()
  await server.close()
})

const verify = (folder: CliFolder, ...words: string[]) => folder.run(['audit', 'verify', '--shared', ...words])

/** Changes the database until the end of the test. */
function tamper(sql: string): void {
  const tables = ['segments', 'run_states']
  const each = (write: (table: string) => string) => tables.map(write).join(';')
  server.sql(each((table) => `CREATE TABLE hub.old_${table} AS TABLE hub.${table}`))
  onTestFinished(() => {
    server.sql(each((table) => `DELETE FROM hub.${table}; INSERT INTO hub.${table} TABLE hub.old_${table}`))
    server.sql(each((table) => `DROP TABLE hub.old_${table}`))
  })
  server.sql(sql)
}

describe('audit verify --shared', () => {
  it('finds all runs intact, on a machine that has none of their files', async () => {
    const { code, stdout, stderr } = await verify(other, '--strict')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.match(/^\S+ +\S+/gm)).toEqual(['intact  first', 'intact  second'])
    const { stdout: here } = await verify(one, '--json')
    expect(jsonLines(here)).toMatchObject([
      { ok: true, run: 'first', state: 'intact', calls: 1, problems: [], remarks: [] },
      { ok: true, run: 'second', state: 'intact', calls: 1, problems: [], remarks: [] },
    ])
    const single = await verify(other, 'sec', '--json')
    expect(jsonLines(single.stdout)).toMatchObject([{ run: 'second', state: 'intact' }])
    const unknown = await verify(other, 'third', '--json')
    expect(unknown).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Shared run third not found.'),
    })
  })

  it('finds a line that was changed in the database, and says which', async () => {
    tamper(`UPDATE hub.segments SET lines = replace(lines, 'signed', 'forged') WHERE run = 'first'`)
    const { code, stdout } = await verify(other)
    expect(code).toBe(1)
    expect(stdout).toMatch(/BROKEN +first .*\n +line 2 was changed[\s\S]*intact +second/)
    const json = await verify(other, '--json')
    expect(json.code).toBe(1)
    expect(jsonLines(json.stdout)).toMatchObject([
      { ok: false, run: 'first', state: 'broken', problems: [{ problem: 'line 2 was changed' }] },
      { ok: true, run: 'second', state: 'intact' },
    ])
    expect(await verify(other, 'second')).toMatchObject({ code: 0 })
  })

  it('finds a run whose lines vanished from the database, also where its files are', async () => {
    tamper(`DELETE FROM hub.segments WHERE run = 'first'`)
    for (const folder of [one, other]) {
      const { code, stdout } = await verify(folder, '--json')
      expect(code).toBe(1)
      const [first, second] = jsonLines(stdout)
      expect(first).toMatchObject({ ok: false, run: 'first', state: 'broken' })
      expect(first.problems[0]).toMatchObject({ problem: 'the shared record is gone' })
      expect(second).toMatchObject({ ok: true, run: 'second' })
    }
  })

  it('finds a run that vanished from the database with its head, and with its files', async () => {
    tamper(`DELETE FROM hub.segments WHERE run = 'first'; DELETE FROM hub.run_states WHERE run = 'first'`)
    const left = await verify(one, '--json')
    expect(left.code).toBe(1)
    expect(jsonLines(left.stdout)).toMatchObject([
      { ok: false, run: 'first', state: 'unproven', remarks: [{ problem: expect.stringMatching(/is not shared/) }] },
      { ok: true, run: 'second', state: 'intact' },
    ])
    const [files, away] = [join(one.path, 'runs', 'first'), join(one.path, 'away')]
    renameSync(files, away)
    onTestFinished(() => renameSync(away, files))
    const broken = { code: 1, stdout: expect.stringMatching(/BROKEN +first .*\n +the shared record is gone/) }
    for (const folder of [one, other]) expect(await verify(folder)).toMatchObject(broken)
  })

  it('leaves out runs that a machine made before its store was copied to the database', async () => {
    const moved = cliFolder('plugins: [./plugin.mjs]\n')
    onTestFinished(() => moved.remove())
    const call = (run: string) => moved.run(['call', 'test/echo', '{"word":"x"}', '--run', run])
    expect(await call('old')).toMatchObject({ code: 0 })
    moved.write('tool-hub.yaml', `plugins: [./plugin.mjs]\nstore: { url: "${server.url}", schema: moved }\n`)
    expect(await moved.run(['store', 'copy', '--from', './.tool-hub'])).toMatchObject({ code: 0 })
    expect(await call('new')).toMatchObject({ code: 0 })
    const elsewhere = folderOn('moved')
    onTestFinished(() => elsewhere.remove())
    for (const folder of [moved, elsewhere]) {
      const { code, stdout } = await verify(folder, '--json')
      expect(code).toBe(0)
      expect(jsonLines(stdout)).toMatchObject([{ ok: true, run: 'new', state: 'intact' }])
    }
    expect(await moved.run(['audit', 'verify', 'old'])).toMatchObject({ code: 0 })
  })

  it('refuses a store that is not shared, and says so when nothing is there', async () => {
    const alone = cliFolder(null)
    onTestFinished(() => alone.remove())
    expect(await verify(alone)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/on this machine only[\s\S]*--shared/),
    })
    const empty = folderOn('empty')
    onTestFinished(() => empty.remove())
    expect(await verify(empty)).toMatchObject({ code: 0, stdout: '', stderr: 'There are no shared records.\n' })
  })
})

describe('audit verify on a machine that lost runs to another one', () => {
  let lost: CliFolder
  let heir: CliFolder
  const local = (folder: CliFolder, ...words: string[]) => folder.run(['audit', 'verify', ...words])
  const echo = (folder: CliFolder, run: string) => folder.run(['call', 'test/echo', '{"word":"signed"}', '--run', run])
  beforeAll(async () => {
    lost = folderOn('moves')
    heir = folderOn('moves')
    expect(await echo(lost, 'closed')).toMatchObject({ code: 0, stderr: '' })
    const killed = lost.start(['call', 'test/hangs', '--run', 'killed'])
    await killed.says('hanging')
    killed.child.kill('SIGKILL')
    await killed.ended
    // As after the time in which its heartbeats would have been missed.
    server.sql('UPDATE moves.processes SET seen_at = seen_at - 60000')
    for (const run of ['closed', 'killed'])
      await eventually(async () => expect(await echo(heir, run)).toMatchObject({ code: 0, stderr: '' }))
  })
  afterAll(() => {
    for (const folder of [lost, heir]) folder.remove()
  })

  it('says that they have moved, with exit code 0, and fails with --strict only', async () => {
    const { code, stdout, stderr } = await local(lost)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.match(/^\S.*? {2}\S+/gm)).toEqual(['moved  closed', 'moved  killed'])
    expect(stdout.match(/the run has moved/g)).toHaveLength(2)
    const json = await local(lost, '--json')
    expect(jsonLines(json.stdout)).toMatchObject([
      { ok: true, run: 'closed', state: 'moved', problems: [] },
      { ok: true, run: 'killed', state: 'moved', problems: [] },
    ])
    expect(await local(lost, 'killed')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^moved +killed /) })
    expect((await local(lost, '--strict')).code).toBe(1)
    expect((await verify(lost)).code).toBe(0)
  })

  it('finds them intact where they are now', async () => {
    const { code, stdout } = await local(heir, '--strict', '--json')
    expect(jsonLines(stdout)).toMatchObject([
      { run: 'closed', state: 'intact' },
      { run: 'killed', state: 'intact' },
    ])
    expect(code).toBe(0)
  })

  it('still finds a line that was changed, and a last line that was removed', async () => {
    const events = (run: string) => join(lost.path, 'runs', run, 'events.jsonl')
    for (const [run, change] of [
      ['closed', (text: string) => text.replace('signed', 'forged')],
      ['killed', (text: string) => text.slice(0, text.trimEnd().lastIndexOf('\n') + 1)],
    ] as const) {
      const whole = readFileSync(events(run), 'utf8')
      writeFileSync(events(run), change(whole))
      onTestFinished(() => writeFileSync(events(run), whole))
      const { code, stdout } = await local(lost, run, '--json')
      expect([code, jsonLines(stdout)[0]]).toMatchObject([1, { ok: false, run }])
    }
  })
})
