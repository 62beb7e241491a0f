import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { processesWith, spawnersOf, until, workspace } from '../../../../../test/support/made-sandboxes.ts'
import type { ProgramRequest, RunningProgram } from '../../../../core/src/commands.ts'
import { systemClock } from '../../../../core/src/context.ts'
import type { ProgramSettings } from './program-request.ts'
import { startProgram } from './start-program.ts'

const HOOK = resolve('test/support/load-typescript.mjs')
const machine: ProgramSettings = {
  protect: [],
  limits: {},
  isSandboxRequired: true,
  hidden: [],
  clock: systemClock,
  openProxy: () => Promise.reject(new Error('no program here has hosts')),
}
const mark = () => `1000.${randomUUID().replaceAll(/\D/g, '')}`

/** Runs all through the file, so that the process that starts programs is there for all tests. */
let warm: RunningProgram
beforeAll(async () => {
  warm = await startProgram({ argv: ['cat'] }, machine)
})
afterAll(() => warm.stop({ graceMs: 0 }))

async function start(request: ProgramRequest): Promise<RunningProgram> {
  const program = await startProgram(request, machine)
  onTestFinished(() => program.stop({ graceMs: 0 }))
  return program
}

describe('a program', () => {
  it('is talked to over its pipes, both ways, for as long as it lives', async () => {
    const program = await start({ argv: ['cat'] })
    for (const line of ['one', 'two']) {
      program.stdin.write(line)
      expect(String((await once(program.stdout, 'data'))[0])).toBe(line)
    }
    expect(program.sandbox).toBe('none')
    expect(process.kill(program.pid, 0)).toBe(true)
    program.stdin.end()
    expect(await program.ended).toEqual({ code: 0, signal: null })
  })

  it('gets its words as they are, without a shell', async () => {
    const words = ['$HOME', '`id`', "it's", '', 'a  b', '*', '; exit 3']
    const program = await start({ argv: ['printf', '%s\\n', ...words] })
    expect(await text(program.stdout)).toBe(words.map((word) => `${word}\n`).join(''))
  })

  it('has its own variables and those that every program needs, and none of the hub', async () => {
    vi.stubEnv('MY_TOKEN', 'hunter2')
    onTestFinished(() => void vi.unstubAllEnvs())
    const program = await start({ argv: ['env'], env: { LEVEL: "it's $HOME\nhigh" } })
    const out = await text(program.stdout)
    expect(out).toContain(`LEVEL=it's $HOME\nhigh\n`)
    expect(out).toContain(`PATH=${process.env.PATH}\n`)
    expect(out).not.toContain('hunter2')
    const names = out.split('\n').flatMap((line) => (line.includes('=') ? [line.split('=')[0]!] : []))
    const expected = /^(PATH|HOME|LANG|LC_ALL|TERM|TMPDIR|USER|SHELL|LEVEL|PWD|TOOL_HUB_MARKER|SHLVL|_)$/
    expect(names.filter((name) => !expected.test(name))).toEqual([])
  })

  it('that is named as a package is not taken from the project around it', async () => {
    const cwd = await workspace()
    await writeFile(join(cwd, 'package.json'), JSON.stringify({ name: 'project', bin: { 'some-server': './evil.js' } }))
    const refused = start({ argv: ['npx', '-y', 'some-server'], cwd })
    await expect(refused).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `npx would take some-server from the project of ${join(cwd, 'package.json')} itself.`,
    })
  })

  it('runs in its folder, and is found from there', async () => {
    const cwd = await workspace()
    await writeFile(join(cwd, 'server'), '#!/bin/sh\npwd; echo problem >&2; exit 7\n', { mode: 0o755 })
    const program = await start({ argv: ['./server'], cwd })
    expect(await text(program.stdout)).toBe(`${cwd}\n`)
    expect(await text(program.stderr)).toBe('problem\n')
    expect(await program.ended).toEqual({ code: 7, signal: null })
  })

  it('waits when nobody reads what it writes, and nothing is lost', async () => {
    const program = await start({ argv: ['head', '-c', '3000000', '/dev/zero'] })
    await once(program.stdout, 'readable')
    expect(program.stdout.readableLength).toBeLessThan(200_000)
    expect((await text(program.stdout)).length).toBe(3_000_000)
  })

  it('may close its input: the writer gets an error, and the hub continues', async () => {
    const program = await start({ argv: ['sh', '-c', 'exec <&-; echo closed; exec sleep 1000'] })
    await once(program.stdout, 'data')
    const write = () =>
      new Promise<string | undefined>((resolve) => {
        program.stdin.write('too late', (error) => resolve((error as NodeJS.ErrnoException | null | undefined)?.code))
      })
    // A process that is just being forked holds the other end until it runs its own program.
    await expect.poll(write).toBe('EPIPE')
  })

  it('can be written to after its end without harm', async () => {
    const program = await start({ argv: ['true'] })
    await program.ended
    const error = await new Promise((told) => program.stdin.write('too late', told))
    expect(error).toBeInstanceOf(Error)
  })
})

describe('stopping', () => {
  it('lets a program end by the end of its input', async () => {
    const program = await start({ argv: ['sh', '-c', 'cat; echo bye; exit 4'] })
    const out = text(program.stdout)
    await program.stop({ graceMs: 60_000 })
    expect([await out, await program.ended]).toEqual(['bye\n', { code: 4, signal: null }])
  })

  it('terminates one that continues', async () => {
    const program = await start({
      argv: ['sh', '-c', 'trap "echo bye; exit 5" TERM; echo; while :; do sleep 0.01; done'],
    })
    const out = text(program.stdout)
    await once(program.stdout, 'data')
    await program.stop({ graceMs: 10_000 })
    expect([await out, await program.ended]).toEqual(['\nbye\n', { code: 5, signal: null }])
  })

  it('kills one that ignores SIGTERM, with everything it has started', async () => {
    const name = mark()
    const line = 'trap "" TERM HUP; setsid sleep "$0" & (sleep "$0" &); echo up; while :; do sleep "$0"; done'
    const program = await start({ argv: ['sh', '-c', line, name] })
    await once(program.stdout, 'data')
    await program.stop({ graceMs: 20 })
    expect(await program.ended).toEqual({ code: null, signal: 'SIGKILL' })
    expect(await processesWith(name)).toEqual([])
  })

  it('can be hurried by asking again', async () => {
    const program = await start({ argv: ['sh', '-c', 'trap "" TERM; echo; while :; do sleep 1000; done'] })
    await once(program.stdout, 'data')
    const patient = program.stop({ graceMs: 600_000 })
    await program.stop({ graceMs: 0 })
    await patient
    expect(await program.ended).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('takes with it what a program left that ended by itself', async () => {
    const name = mark()
    const program = await start({ argv: ['sh', '-c', '(setsid sleep "$0" &); exit 0', name] })
    await program.ended
    expect(await processesWith(name)).toEqual([])
    await program.stop()
  })
})

describe('what cannot be started', () => {
  const attempt = (request: ProgramRequest) => startProgram(request, machine)

  it('is a program that is not there', async () => {
    const hint = expect.stringMatching(/^Install it, or name its full path\./)
    const missing = { code: 'NOT_FOUND', message: expect.stringContaining('"no-such-server"'), fix: { hint } }
    await expect(attempt({ argv: ['no-such-server', '--stdio'] })).rejects.toMatchObject(missing)
    await expect(attempt({ argv: ['/no/such/server'] })).rejects.toMatchObject({ code: 'NOT_FOUND', fix: { hint } })
  })

  it('is what is not a program', async () => {
    const cwd = await workspace()
    await mkdir(join(cwd, 'folder'))
    await writeFile(join(cwd, 'text'), 'hi')
    await writeFile(join(cwd, 'broken'), '#!/no/such/interpreter\n', { mode: 0o755 })
    for (const name of ['./folder', './text', './broken']) {
      const failed = { code: 'EXEC_FAILED', message: expect.stringContaining(name.slice(2)) }
      await expect(attempt({ argv: [name], cwd })).rejects.toMatchObject(failed)
    }
  })

  it('is one without a folder', async () => {
    await expect(attempt({ argv: ['true'], cwd: '/no/such/folder' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(attempt({ argv: ['true'], cwd: '/etc/passwd' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is one with words or variables that no program can get, whose values are not told', async () => {
    const requests: ProgramRequest[] = [
      { argv: [] },
      { argv: [''] },
      { argv: ['echo', 'hunter2\0'] },
      { argv: ['echo'], env: { 'A=B': 'hunter2' } },
      { argv: ['echo'], env: { A: 'hunter2\0' } },
    ]
    for (const request of requests) {
      const invalid = { code: 'CONFIG_INVALID', message: expect.not.stringContaining('hunter2') }
      await expect(attempt(request)).rejects.toMatchObject(invalid)
    }
  })
})

it('leaves nothing running when the hub is killed, sandboxed or not', async () => {
  const [plain, sandboxed] = [mark(), mark()]
  const line = 'trap "" TERM HUP; setsid sleep "$0" & echo up; while :; do sleep "$0"; done'
  const hub = spawn(
    process.execPath,
    [
      ...['--import', HOOK, '--input-type=module', '-e'],
      `import { startProgram } from ${JSON.stringify(resolve('packages/sandbox/src/exec/program/start-program.ts'))}
       import { systemClock as clock } from ${JSON.stringify(resolve('packages/core/src/context.ts'))}
       const machine = { limits: {}, isSandboxRequired: true, hidden: [], protect: [], clock }
       const [line, plain, sandboxed] = process.argv.slice(1)
       for (const request of [{ argv: ['sh', '-c', line, plain] }, { argv: ['sh', '-c', line, sandboxed], access: {} }]) {
         const { stdout } = await startProgram(request, machine)
         await new Promise((resolve) => stdout.once('data', resolve))
       }
       console.log('up')`,
      ...[line, plain, sandboxed],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void hub.kill('SIGKILL'))
  await once(hub.stdout, 'data')
  expect(await processesWith(`sleep\0${plain}`)).not.toEqual([])
  expect(await processesWith(`sleep\0${sandboxed}`)).not.toEqual([])
  hub.kill('SIGKILL')
  await until(async () => (await processesWith(plain)).length + (await processesWith(sandboxed)).length === 0)
})

it('ends with the process that watches it, and the next one gets another', async () => {
  const name = mark()
  const program = await start({ argv: ['sleep', name] })
  for (const spawner of await spawnersOf(process.pid)) process.kill(spawner, 'SIGKILL')
  expect(await program.ended).toEqual({ code: null, signal: 'SIGKILL' })
  await until(async () => (await processesWith(name)).length === 0)
  const next = await start({ argv: ['echo', 'hi'] })
  expect(await text(next.stdout)).toBe('hi\n')
})
