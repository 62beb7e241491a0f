import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import {
  fullSandbox,
  noSandbox,
  processesWith,
  reusableSandbox,
  until,
  workspace,
} from '../../../../../test/support/made-sandboxes.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import type { CommandProcess } from './sandbox-handle.ts'
import { createStarter, type StartRequest } from './starter.ts'

const starter = createStarter()
afterAll(() => starter.close())

const never = new AbortController().signal
const orderOf = (sandbox: SandboxLaunch, words: readonly string[], cwd: string): StartRequest => ({
  sandbox,
  words,
  cwd,
  env: {},
  pty: false,
})
const shell = (line: string) => ['sh', '-c', line]

async function whole({ stdout, stderr, exited }: CommandProcess) {
  const [out, errors, exit] = await Promise.all([text(stdout), text(stderr), exited])
  return { out, errors, exit }
}

type Kind = 'full' | 'reused' | 'none'
const KINDS: readonly Kind[] = ['full', 'reused', 'none']
const sandboxOf = (kind: Kind, folder: string) => {
  if (kind === 'none') return noSandbox()
  return kind === 'full' ? fullSandbox(folder) : reusableSandbox(folder)
}

/** Starts a command; one in a reused sandbox after another command that ran in it. */
async function startIn(kind: Kind, request: StartRequest, signal: AbortSignal): Promise<CommandProcess> {
  if (kind !== 'reused') return starter.start(request, signal)
  const before = { ...request, words: ['true'], pty: false, run: 'tests' }
  // Where the folder does not exist, no command runs.
  const first = await starter.start(before, never).catch(() => undefined)
  if (first) await whole(first)
  return starter.start({ ...request, run: 'tests' }, signal)
}

describe.each(KINDS)('a command at level %s', (kind) => {
  const run = async (words: readonly string[], parts: Partial<StartRequest> & { input?: string } = {}) => {
    const cwd = parts.cwd ?? (await workspace())
    const { input = '', ...rest } = parts
    const started = await startIn(kind, { ...orderOf(sandboxOf(kind, cwd), words, cwd), ...rest }, never)
    started.stdin.end(input)
    return whole(started)
  }

  it('gets its words, folder, variables and input, and gives its output, errors and exit code', async () => {
    const cwd = await workspace()
    const line = 'cat; pwd; echo "$GREETING $1"; echo oh >&2; exit 3'
    const result = await run([...shell(line), 'sh', 'a  b'], { cwd, env: { GREETING: "it's" }, input: 'in\n' })
    expect(result).toEqual({ out: `in\n${cwd}\nit's a  b\n`, errors: 'oh\n', exit: { exitCode: 3 } })
  })

  it('has only its own descriptors and variables', async () => {
    const result = await run(shell('ls /proc/$$/fd; env | grep -v MARKER | cut -d= -f1 | sort'))
    expect(result.out.split('\n')).toEqual(['0', '1', '2', 'PATH', 'PWD', ''])
  })

  it('can open its standard streams by name', async () => {
    const line = 'echo a >/dev/stdout; echo b | tee /dev/stderr; cat /dev/stdin; echo done'
    expect(await run(shell(line), { input: 'c\n' })).toEqual({
      out: 'a\nb\nc\ndone\n',
      errors: 'b\n',
      exit: { exitCode: 0 },
    })
  })

  it('may write any bytes', async () => {
    const cwd = await workspace()
    const bytes = Buffer.from(Array.from({ length: 256 * 40 }, (_, index) => index % 256))
    const started = await startIn(kind, orderOf(sandboxOf(kind, cwd), ['cat'], cwd), never)
    started.stdin.end(bytes)
    started.stderr.resume()
    expect((await buffer(started.stdout)).equals(bytes)).toBe(true)
  })

  it('ends when it ends, though a child of it holds its pipes, and the child ends too', async () => {
    const { out, exit } = await run(shell('setsid sleep 1000 & echo on my way'))
    expect({ out, exit }).toEqual({ out: 'on my way\n', exit: { exitCode: 0 } })
  })

  it('may close its streams and live on', async () => {
    const cwd = await workspace()
    const started = await startIn(
      kind,
      orderOf(sandboxOf(kind, cwd), shell('exec >&- 2>&- <&-; read x; exec sleep 1000'), cwd),
      never,
    )
    await Promise.all([text(started.stdout), text(started.stderr)])
    let hasEnded = false
    void started.exited.then(() => {
      hasEnded = true
    })
    const refused = await new Promise((resolve) => started.stdin.write('x'.repeat(200_000), resolve))
    expect({ refused, hasEnded }).toEqual({ refused: expect.objectContaining({ code: 'EPIPE' }), hasEnded: false })
    await started.stop()
    expect(await started.exited).toEqual({ signal: 'SIGTERM' })
  })

  it('that is missing or cannot be run is distinguished from one that exits with 127', async () => {
    const cwd = await workspace()
    await writeFile(`${cwd}/text`, 'hello', { mode: 0o644 })
    await writeFile(`${cwd}/odd`, '#!/no/such/interpreter\n', { mode: 0o755 })
    await expect(run(['no-such-program'], { cwd })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'program not found: "no-such-program"',
      fix: { hint: expect.stringContaining('/usr/bin:/bin') },
    })
    await expect(run(['./gone'], { cwd })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(run(['-x'], { cwd })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(run([''], { cwd })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(run(['./text'], { cwd })).rejects.toMatchObject({ code: 'EXEC_FAILED', message: /not executable/ })
    await expect(run([cwd], { cwd })).rejects.toMatchObject({ code: 'EXEC_FAILED', message: /is a directory/ })
    await expect(run(['./odd'], { cwd })).rejects.toMatchObject({ code: 'EXEC_FAILED', message: /interpreter/ })
    await expect(run(['true', 'x'.repeat(3_000_000)], { cwd })).rejects.toMatchObject({
      code: 'EXEC_FAILED',
      message: /too long/,
    })
    expect((await run(shell('echo no >&2; exit 127'), { cwd })).exit).toEqual({ exitCode: 127 })
  })

  it('does not start in a folder that was deleted meanwhile', async () => {
    const cwd = await workspace()
    const gone = `${cwd}/gone`
    const missing = { code: 'NOT_FOUND', message: `The folder to run in does not exist: "${gone}"` }
    await expect(startIn(kind, orderOf(sandboxOf(kind, cwd), ['true'], gone), never)).rejects.toMatchObject(missing)
    await expect(startIn(kind, orderOf(sandboxOf(kind, gone), ['true'], gone), never)).rejects.toMatchObject(missing)
  })

  it('is refused with NUL in a word or a name that is none', async () => {
    await expect(run(['echo', 'a\0b'])).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    await expect(run(['env'], { env: { 'a b': 'c' } })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    await expect(run(['env'], { env: { A: 'c\0' } })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('has a terminal if it requests one', async () => {
    const result = await run(shell('test -t 0 && test -t 1 && stty size; echo oh >&2; exit 7'), { pty: true })
    expect(result).toEqual({ out: '24 80\r\noh\r\n', errors: '', exit: { exitCode: 7 } })
    await expect(run(['no-such-program'], { pty: true })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is interrupted by Ctrl-C on its terminal', async () => {
    const cwd = await workspace()
    const line = 'trap "echo caught; exit 9" INT; echo waiting; while :; do sleep 0.01; done'
    const started = await startIn(kind, { ...orderOf(sandboxOf(kind, cwd), shell(line), cwd), pty: true }, never)
    let out = ''
    started.stdout.on('data', (bytes) => {
      out += bytes
    })
    await until(() => out.includes('waiting'))
    started.stdin.write('\x03')
    expect(await started.exited).toEqual({ exitCode: 9 })
    await until(() => out.includes('caught'))
  })
})

it('passes 100 MB without keeping them', async () => {
  const cwd = await workspace()
  const started = await starter.start(orderOf(fullSandbox(cwd), ['head', '-c', '100000000', '/dev/zero'], cwd), never)
  const before = process.memoryUsage.rss()
  let [bytes, most] = [0, 0]
  for await (const chunk of started.stdout) {
    bytes += chunk.length
    if (bytes % 16 === 0) most = Math.max(most, process.memoryUsage.rss())
  }
  expect(bytes).toBe(100_000_000)
  expect(most - before).toBeLessThan(60_000_000)
})

it('ends the output of a command that has ended, though a process that got away at level none holds the pipe', async () => {
  const cwd = await workspace()
  const line = `env -i setsid sh -c 'echo $$; exec sleep 1000' & read -r answer`
  const started = await starter.start(orderOf(noSandbox(), shell(line), cwd), never)
  started.stdout.once('data', () => started.stdin.end())
  const { out } = await whole(started)
  expect(process.kill(Number(out), 'SIGKILL')).toBe(true)
})

it('waits for its input when it is quicker than the hub', async () => {
  const cwd = await workspace()
  await (await starter.start(orderOf(noSandbox(), ['true'], cwd), never)).exited
  const starting = starter.start(orderOf({ ...noSandbox(), key: 'new' }, ['cat'], cwd), never)
  // The hub is busy with something else meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150)
  const started = await starting
  started.stdin.end('hello')
  expect((await whole(started)).out).toBe('hello')
})

describe('a sandbox', () => {
  it('that cannot be made says so in its own words, never in those of a command', async () => {
    const cwd = await workspace()
    const sandbox = fullSandbox(cwd)
    const broken = { ...sandbox, key: 'broken', args: [...sandbox.args, '--bind', '/no/such/folder', '/x'] }
    await expect(starter.start(orderOf(broken, ['true'], cwd), never)).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: /^The sandbox did not start: bwrap: .*\/no\/such\/folder/,
      fix: { hint: expect.stringContaining('tool-hub doctor') },
    })
    const missing = { ...sandbox, key: 'missing', file: '/no/such/bwrap' }
    await expect(starter.start(orderOf(missing, ['true'], cwd), never)).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: /^The sandbox did not start: \/no\/such\/bwrap: not found/,
    })
    const odd = { ...sandbox, key: 'odd', args: [...sandbox.args, 'a\0b'] }
    await expect(starter.start(orderOf(odd, ['true'], cwd), never)).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: /NUL/,
    })
    const spoken = await whole(await starter.start(orderOf(sandbox, shell('echo "bwrap: no" >&2; exit 1'), cwd), never))
    expect(spoken).toMatchObject({ errors: 'bwrap: no\n', exit: { exitCode: 1 } })
  })

  it('reads its filter from the beginning, every time', async () => {
    const cwd = await workspace()
    const sandbox = withFilter(fullSandbox(cwd, 'filtered'))
    for (let times = 0; times < 3; times++) {
      const { errors, exit } = await whole(await starter.start(orderOf(sandbox, ['uname'], cwd), never))
      expect({ errors, exit }).toEqual({ errors: expect.stringContaining('not permitted'), exit: { exitCode: 1 } })
    }
  })

  it('has its helper ready before the command starts, and does not start without it', async () => {
    const cwd = await workspace()
    const sandbox = { ...fullSandbox(cwd), helper: shell(`echo here >${cwd}/made; echo ready; exec sleep 1000`) }
    const { out, exit } = await whole(await starter.start(orderOf(sandbox, shell(`cat ${cwd}/made`), cwd), never))
    expect({ out, exit }).toEqual({ out: 'here\n', exit: { exitCode: 0 } })
    const dead = { ...sandbox, helper: ['false'] }
    await expect(starter.start(orderOf(dead, ['true'], cwd), never)).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
    })
  })

  it('gets no command when one of its mounts was swapped', async () => {
    const cwd = await workspace()
    await mkdir(`${cwd}/a`)
    await mkdir(`${cwd}/b`)
    const sandbox = fullSandbox(cwd, 'swapped')
    const swapped = { ...sandbox, args: [...sandbox.args, '--bind', `${cwd}/b`, `${cwd}/a`], swappable: [`${cwd}/a`] }
    await expect(starter.start(orderOf(swapped, ['true'], cwd), never)).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining(`${cwd}/a was replaced`),
    })
  })
})

/** With a filter that refuses uname(2) and nothing else. */
function withFilter(sandbox: SandboxLaunch): SandboxLaunch {
  const UNAME = process.arch === 'arm64' ? 160 : 63
  const steps = [
    [0x20, 0, 0, 0],
    [0x15, 0, 1, UNAME],
    [0x06, 0, 0, 0x00050001],
    [0x06, 0, 0, 0x7fff0000],
  ]
  const program = Buffer.alloc(steps.length * 8)
  for (const [index, [code, yes, no, value]] of steps.entries()) {
    program.writeUInt16LE(code!, index * 8)
    program.writeUInt8(yes!, index * 8 + 2)
    program.writeUInt8(no!, index * 8 + 3)
    program.writeUInt32LE(value!, index * 8 + 4)
  }
  return { ...sandbox, args: [...sandbox.args, '--seccomp', '3'], seccomp: { fd: 3, program } }
}

/** Ways to outlive a signal; `$0` is a text that only this test has. */
const STUBBORN = {
  plain: 'exec sleep "$0"',
  'in a session of its own': 'setsid sleep "$0" & echo; wait',
  'an orphan': '(setsid sleep "$0" &) ; exec sleep "$0"',
  'deaf to SIGTERM': 'trap "" TERM; while :; do sleep "$0"; done',
  stopped: `sleep "$0" & sh -c 'kill -STOP $$' "$0" & kill -STOP $$`,
}

describe.each(KINDS)('stopping at level %s', (kind) => {
  const order = async (line: string): Promise<StartRequest & { mark: string }> => {
    const cwd = await workspace()
    const sandbox = sandboxOf(kind, cwd)
    const mark = `1000.${randomUUID().replaceAll(/\D/g, '')}`
    return { sandbox, words: ['sh', '-c', line, mark], cwd, env: {}, pty: false, mark }
  }

  it.each(Object.entries(STUBBORN))('leaves nothing of a command that is %s', async (_, line) => {
    const { mark, ...asked } = await order(line)
    const started = await startIn(kind, asked, new AbortController().signal)
    await until(async () => (await processesWith(`sleep\0${mark}`)).length > 0)
    await started.stop()
    expect(await processesWith(mark)).toEqual([])
    expect((await started.exited).signal).toMatch(/SIGTERM|SIGKILL/)
  })

  it('lets a command end in its own way first', async () => {
    const { mark: _, ...asked } = await order('trap "echo bye; exit 4" TERM; echo; while :; do sleep 0.01; done')
    const started = await startIn(kind, asked, new AbortController().signal)
    const out = text(started.stdout)
    await new Promise((resolve) => started.stdout.once('data', resolve))
    await started.stop()
    expect([await out, await started.exited]).toEqual(['\nbye\n', { exitCode: 4 }])
  })

  it('is what an abort does, before the start, during it, while the command runs and after its end', async () => {
    const { mark, ...asked } = await order('exec sleep "$0"')
    const before = AbortSignal.abort()
    await expect(startIn(kind, asked, before)).rejects.toMatchObject({ code: 'ABORTED' })

    const during = new AbortController()
    const starting = startIn(kind, asked, during.signal)
    during.abort()
    await expect(starting).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await processesWith(mark)).toEqual([])

    const running = new AbortController()
    const started = await startIn(kind, asked, running.signal)
    running.abort()
    expect(await started.exited).toEqual({ signal: 'SIGTERM' })
    expect(await processesWith(mark)).toEqual([])

    const after = new AbortController()
    const over = await startIn(kind, { ...asked, words: ['true'] }, after.signal)
    expect(await over.exited).toEqual({ exitCode: 0 })
    after.abort()
    await over.stop()
  })

  it('takes with it what a command leaves behind when it ends by itself', async () => {
    const { mark, ...asked } = await order('setsid sleep "$0" & (setsid sleep "$0" &); exit 0')
    const started = await startIn(kind, asked, new AbortController().signal)
    expect(await started.exited).toEqual({ exitCode: 0 })
    expect(await processesWith(mark)).toEqual([])
  })
})

it('ends everything when the starter is closed, and starts nothing any more', async () => {
  const other = createStarter()
  const cwd = await workspace()
  const mark = `1000.${randomUUID().replaceAll(/\D/g, '')}`
  const asked = { sandbox: fullSandbox(cwd), words: ['sleep', mark], cwd, env: {}, pty: false }
  const started = await other.start(asked, new AbortController().signal)
  await other.close()
  expect(await processesWith(mark)).toEqual([])
  expect(await processesWith(cwd)).toEqual([])
  expect(await started.exited).toEqual({ signal: 'SIGKILL' })
  await expect(other.start(asked, new AbortController().signal)).rejects.toMatchObject({ code: 'ABORTED' })
})
