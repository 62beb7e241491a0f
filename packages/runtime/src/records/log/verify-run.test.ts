import { execFileSync } from 'node:child_process'
import { appendFile, cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ended, newRun, runsFolder, started } from '../../../../../test/support/record-run.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'
import { FIRST_PREV, linkLine } from './event-line.ts'
import { RunRecords } from './run-records.ts'
import { verifyRun } from './verify-run.ts'

let root: string
beforeAll(async () => {
  root = await runsFolder()
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** A closed run of 3 calls, one of them failed and one with an artifact: 8 lines. */
async function makeRun(): Promise<RunRecords> {
  const records = RunRecords.open(root, newRun(), { durability: 'effects', clock: systemClock })
  const { ref } = await records.putArtifact('kept')
  const error = { code: 'INTERNAL', message: 'broke', stack: 'at x' } as const
  for (const [id, more] of [
    ['a', {}],
    ['b', { status: 'error', error }],
    ['c', { artifacts: [ref] }],
  ] as const) {
    records.append(started(id))
    records.append(ended(id, more))
  }
  await records.close()
  return records
}

/** What is left when the process dies before it closes the run: 7 lines. */
async function makeCrashedRun(): Promise<RunRecords> {
  const records = await makeRun()
  await rm(join(records.folder, 'head.json'))
  await changed('events.jsonl', /.*\n$/, '')(records.folder)
  return records
}

type TamperFile = (folder: string) => Promise<void>

async function fileIn(folder: string, name: string | RegExp): Promise<string> {
  if (typeof name === 'string') return join(folder, name)
  const names = await readdir(folder, { recursive: true })
  return join(folder, names.find((one) => name.test(one))!)
}

function changed(name: string | RegExp, from: string | RegExp, to: string): TamperFile {
  return async (folder) => {
    const path = await fileIn(folder, name)
    const text = await readFile(path, 'utf8')
    expect(text.replace(from, to)).not.toBe(text)
    await writeFile(path, text.replace(from, to))
  }
}

function linked(name: string): TamperFile {
  return async (folder) => {
    await rename(join(folder, name), join(folder, 'elsewhere'))
    await symlink(join(folder, 'elsewhere'), join(folder, name))
  }
}

async function emptied(folder: string): Promise<void> {
  await writeFile(join(folder, 'events.jsonl'), '')
  await rm(join(folder, 'head.json'))
  await rm(join(folder, 'logs'), { recursive: true })
}

type Tamper = (lines: string[]) => string[]

async function tampered(tamper: Tamper, remove: string[] = []): Promise<Awaited<ReturnType<typeof verifyRun>>> {
  const { folder } = await makeRun()
  const path = join(folder, 'events.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  await writeFile(
    path,
    tamper(lines)
      .map((line) => `${line}\n`)
      .join(''),
  )
  for (const file of remove) await rm(join(folder, file))
  return verifyRun(folder)
}

const TAMPERS: Array<[string, Tamper, number]> = [
  ['a changed value', (lines) => lines.with(4, lines[4]!.replace('"bytes":10', '"bytes":11')), 5],
  ['a changed time', (lines) => lines.with(2, lines[2]!.replace('"time":"2', '"time":"3')), 3],
  [
    'a changed hash',
    (lines) =>
      lines.with(
        2,
        lines[2]!.replace(/."}$/, (end) => (end[0] === '0' ? `1${end.slice(1)}` : `0${end.slice(1)}`)),
      ),
    3,
  ],
  ['the first line deleted', (lines) => lines.slice(1), 1],
  ['a middle line deleted', (lines) => lines.toSpliced(3, 1), 4],
  ['the last line deleted', (lines) => lines.slice(0, -1), 0],
  ['half of the lines cut off', (lines) => lines.slice(0, 4), 0],
  ['all lines deleted', () => [], 0],
  ['a copy inserted', (lines) => lines.toSpliced(3, 0, lines[2]!), 4],
  ['a foreign line inserted', (lines) => lines.toSpliced(3, 0, '{"hello":"world"}'), 4],
  ['an empty line inserted', (lines) => lines.toSpliced(3, 0, ''), 4],
  ['two lines swapped', (lines) => lines.with(2, lines[3]!).with(3, lines[2]!), 3],
  ['a line sealed again by a forger', (lines) => lines.with(3, forge(lines[3]!)), 5],
]

describe('verifyRun', () => {
  it('finds nothing in a run that nobody touched', async () => {
    const { folder, run } = await makeRun()
    const counts = { lines: 8, calls: 3, interrupted: 0 }
    expect(await verifyRun(`${folder}/`)).toEqual({
      ok: true,
      run,
      state: 'intact',
      ...counts,
      problems: [],
      remarks: [],
    })
  })

  it.each(TAMPERS)('finds %s', async (_name, tamper, line) => {
    const report = await tampered(tamper)
    expect(report.ok).toBe(false)
    expect(report.problems.map((problem) => problem.line)).toContain(line)
  })

  it.each(TAMPERS.filter(([name]) => name !== 'the last line deleted'))(
    'finds %s without head.json',
    async (_name, tamper) => {
      expect((await tampered(tamper, ['head.json'])).ok).toBe(false)
    },
  )

  it('finds a chain that was made anew from the first line, by head.json', async () => {
    const report = await tampered((lines) => {
      let last = { seq: 0, hash: FIRST_PREV }
      return lines.map((line) => {
        const { seq: _, time, prev: __, hash: ___, ...body } = JSON.parse(line)
        const linked = linkLine(last, time, JSON.stringify({ ...body, caller: 'somebody else' }))
        last = linked
        return linked.line.slice(0, -1)
      })
    })
    expect(report.problems.at(-1)).toMatchObject({ line: 8, problem: expect.stringContaining('head.json') })
  })

  it('finds nothing changed in a run that crashed or continues, also with half a line at its end, and tells of that', async () => {
    const { folder } = await makeCrashedRun()
    await appendFile(join(folder, 'events.jsonl'), '{"seq":9,"time":"20')
    expect(await verifyRun(folder)).toMatchObject({
      ok: false,
      state: 'unproven',
      lines: 7,
      problems: [],
      remarks: [
        { line: 0, seq: 7, problem: expect.stringContaining('19 bytes follow the last line') },
        { line: 0, seq: 7, problem: expect.stringContaining('the run was not closed') },
      ],
    })
    const open = RunRecords.open(root, newRun(), { durability: 'effects', clock: systemClock })
    open.append(started('x'))
    open.written()
    expect(await verifyRun(open.folder)).toMatchObject({ ok: true, state: 'open', lines: 2, remarks: [] })
    await open.close()
  })

  it('accepts logs that lag behind a run that crashed, also in the middle of a line', async () => {
    const { folder } = await makeCrashedRun()
    const path = join(folder, 'logs/tools.jsonl')
    const whole = await readFile(path, 'utf8')
    for (const kept of [0, 5, whole.length - 1, whole.indexOf('\n') + 1]) {
      await writeFile(path, whole.slice(0, kept))
      expect(await verifyRun(folder)).toMatchObject({ state: 'unproven', problems: [], lines: 7 })
    }
  })

  it.each<[string, (folder: string) => Promise<void>, RegExp]>([
    ['a closed run without head.json', (folder) => rm(join(folder, 'head.json')), /head\.json is missing/],
    ['half a line behind a closed run', (folder) => appendFile(join(folder, 'events.jsonl'), '{"se'), /4 bytes follow/],
    ['an emptied run', emptied, /has no event/],
    ['a log that was emptied', (folder) => writeFile(join(folder, 'logs/errors.jsonl'), ''), /errors.*lacks.*event 5/],
    ['a log that is gone', (folder) => rm(join(folder, 'logs/tools.jsonl')), /tools\.jsonl lacks.*event 3 and all/],
    [
      'a forged log',
      (folder) => writeFile(join(folder, 'logs/tools.jsonl'), '{"forged":1}\n'),
      /line 1 is of no event/,
    ],
    ['a changed line of a log', changed('logs/tools.jsonl', 'status":"ok', 'status":"ko'), /is not what event 3 gives/],
    ['a changed stack', changed('logs/errors.jsonl', 'at x', 'at y'), /errors\.jsonl line 1 is not what event 5/],
    ['a line taken out of a log', changed('logs/tools.jsonl', /.*\n/, ''), /tools\.jsonl lacks the line of event 3/],
    ['a line added to a log', changed('logs/tools.jsonl', /(.*\n)/, '$1$1'), /line 2 is of no event/],
    [
      'half a line added to a log',
      (folder) => appendFile(join(folder, 'logs/tools.jsonl'), '{'),
      /ends in half a line/,
    ],
    ['a head of other counts', changed('head.json', '"calls":3', '"calls":2'), /ends 3 calls, but head\.json says 2/],
    ['a head of another run', changed('head.json', '"run":"', '"run":"x'), /head\.json is of the run x/],
    ['a changed artifact', changed(/artifacts\/\w+/, 'kept', 'else'), /line 7 names artifact:\w+, which was changed/],
    ['an artifact that is gone', async (folder) => rm(await fileIn(folder, /artifacts\/\w+/)), /which is missing/],
    ['a link for a log', linked('logs/tools.jsonl'), /logs\/tools\.jsonl is a symbolic link/],
    ['a link for the events', linked('events.jsonl'), /events\.jsonl is a symbolic link/],
  ])('finds %s', async (_name, tamper, problem) => {
    const { folder } = await makeRun()
    await tamper(folder)
    const report = await verifyRun(folder)
    expect(report.ok).toBe(false)
    expect(report.problems.map((found) => found.problem).join('\n')).toMatch(problem)
  })

  it('finds a run under the name of another', async () => {
    const { folder } = await makeRun()
    await cp(folder, `${folder}-copy`, { recursive: true })
    const problems = (await verifyRun(`${folder}-copy`)).problems
    expect(problems[0]).toMatchObject({
      line: 1,
      seq: 1,
      problem: expect.stringMatching(/^line 1 is of the run run-\d+,/),
    })
  })

  it('finds a log that knows more than the events of a crashed run', async () => {
    const { folder } = await makeCrashedRun()
    await changed('events.jsonl', /.*\n$/, '')(folder)
    expect(await verifyRun(folder)).toMatchObject({
      ok: false,
      problems: [{ problem: expect.stringContaining('logs/tools.jsonl continues to event 7: lines were removed') }],
    })
  })

  it('finds an end that was forged behind the head', async () => {
    const { folder } = await makeRun()
    const path = join(folder, 'events.jsonl')
    const last = JSON.parse((await readFile(path, 'utf8')).trimEnd().split('\n').at(-1)!)
    await appendFile(path, linkLine(last, last.time, '{"type":"run-closed","calls":3,"failures":1}').line)
    expect((await verifyRun(folder)).problems).toMatchObject([
      { seq: 9, problem: 'head.json ends with event 8, but the run was closed by event 9' },
    ])
  })

  it('does not wait for a pipe', async () => {
    const { folder } = await makeRun()
    await rm(join(folder, 'events.jsonl'))
    execFileSync('mkfifo', [join(folder, 'events.jsonl')])
    expect(await verifyRun(folder)).toMatchObject({ ok: false, lines: 0 })
  })

  it('finds nothing wrong with a folder that no line was ever written to, as a full disk or a loss of power leaves it', async () => {
    const folder = join(root, 'unused')
    for (const name of ['logs', 'archive', 'artifacts', 'undo']) await mkdir(join(folder, name), { recursive: true })
    await writeFile(join(folder, 'events.jsonl'), '')
    await writeFile(join(folder, 'logs/tools.jsonl'), '')
    const unused = { ok: true, lines: 0, remarks: [{ problem: expect.stringContaining('nothing was recorded') }] }
    expect(await verifyRun(folder)).toMatchObject(unused)
    await rm(join(folder, 'events.jsonl'))
    expect(await verifyRun(folder)).toMatchObject(unused)
    // Not all of its folders were made.
    for (const name of ['archive', 'undo']) await rm(join(folder, name), { recursive: true })
    expect(await verifyRun(folder)).toMatchObject(unused)
    await writeFile(join(folder, 'artifacts', 'left'), 'x')
    expect(await verifyRun(folder)).toMatchObject({
      ok: false,
      problems: [{ problem: expect.stringMatching(/no event/) }],
    })
  })

  it('finds a broken head.json and missing events', async () => {
    const { folder } = await makeRun()
    await writeFile(join(folder, 'head.json'), '{}')
    expect(await verifyRun(folder)).toMatchObject({
      ok: false,
      problems: [{ problem: expect.stringContaining('head.json') }],
    })
    await rm(join(folder, 'events.jsonl'))
    const { problems } = await verifyRun(folder)
    expect(problems.map(({ problem }) => problem)).toContainEqual(expect.stringContaining('events.jsonl is missing'))
  })

  it('finds missing events of a run that only its logs still know', async () => {
    const { folder } = await makeCrashedRun()
    for (const name of ['events.jsonl', 'head.json']) await rm(join(folder, name), { force: true })
    expect(await verifyRun(folder)).toMatchObject({ ok: false, state: 'broken' })
  })

  it('still shows lines that were removed before the run was opened again', async () => {
    const { folder, run } = await makeRun()
    const path = join(folder, 'events.jsonl')
    const lines = (await readFile(path, 'utf8')).split('\n')
    await writeFile(path, `${lines.slice(0, 5).join('\n')}\n`)
    await RunRecords.open(root, run, { durability: 'effects', clock: systemClock }).close()
    expect(await verifyRun(folder)).toMatchObject({ ok: false })
  })

  it('still shows a last line that was changed before the run was opened again', async () => {
    const { folder, run } = await makeRun()
    const path = join(folder, 'events.jsonl')
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('"type":"run-closed","calls":3', '"type":"run-closed","calls":2'))
    await RunRecords.open(root, run, { durability: 'effects', clock: systemClock }).close()
    expect((await verifyRun(folder)).problems).toMatchObject([{ line: 8, problem: expect.stringContaining('changed') }])
  })
})

/** Changes a line and gives it the hash that fits its new content. */
function forge(line: string): string {
  const text = line.slice(0, -75).replace('"caller":"test"', '"caller":"else"')
  return `${text},"hash":"${sha256(text)}"}`
}
