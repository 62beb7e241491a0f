import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startCommand, until } from '../../../../../test/support/managed-command.ts'
import { outputFile } from '../../../../../test/support/output-file.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'owned-command-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a command that runs to its end', () => {
  it('tells its output, its exit code and its state', async () => {
    const command = await startCommand('echo out; echo err >&2; exit 3')
    expect(command.state()).toMatchObject({ status: 'running', isBackground: false, timedOut: false })
    expect(await command.ended()).toBe(true)
    expect(command.output()).toMatchObject({ stdout: 'out\n', stderr: 'err\n', isCut: false })
    expect(command.output().tail).toHaveLength(8)
    expect(command.state()).toMatchObject({ status: 'exited', exitCode: 3, bytes: 8, isWaiting: false })
    expect(command.state().signal).toBeUndefined()
    expect(await command.artifact()).toBeUndefined()
  })

  it('keeps a last line without an end, and what is not text as well as possible', async () => {
    const command = await startCommand(`printf 'a\\xff\\xfeb\\0c\\xe2\\x82'`)
    await command.ended()
    expect(command.output().stdout).toBe('a\ufffd\ufffdb\0c\ufffd')
  })

  it('assembles characters that arrive in parts, whatever is written between them', async () => {
    const received: string[] = []
    const command = await startCommand(
      `printf '\\xf0\\x9f'; read -t 0.05 <> <(:); printf X >&2; read -t 0.05 <> <(:); printf '\\x98\\x80\\n'`,
    )
    command.onOutput((text) => received.push(text))
    await command.ended()
    expect(command.output()).toMatchObject({ stdout: '😀\n', tail: 'X😀\n' })
    expect(received.join('')).toBe('X😀\n')
  })

  it('shows listeners and models no terminal codes', async () => {
    const received: string[] = []
    const command = await startCommand(`printf '\\e[31mred\\e[0m 1%%\\r 99%%\\n'`)
    command.onOutput((text) => received.push(text))
    await command.ended()
    expect([command.output().stdout, received.join('')]).toEqual([' 99%\n', ' 99%\n'])
  })

  it('gets its input and then the end of it', async () => {
    const command = await startCommand(['cat'], { stdin: 'héllo\n' })
    await command.ended()
    expect(command.output().stdout).toBe('héllo\n')
    const unread = await startCommand(['true'], { stdin: 'x'.repeat(1_000_000) })
    expect(await unread.ended()).toBe(true)
    expect(unread.state().exitCode).toBe(0)
  })
})

describe('a command whose pipes do not end with it', () => {
  it('returns on exit though a child holds the pipes', async () => {
    const command = await startCommand('sleep 30 & echo $!')
    expect(await command.ended({ withinMs: 10_000 })).toBe(true)
    expect(process.kill(Number(command.output().stdout), 'SIGKILL')).toBe(true)
  })

  it('returns on exit although a child continues to write', async () => {
    const command = await startCommand('(while :; do echo more; done) & echo done')
    expect(await command.ended({ withinMs: 10_000 })).toBe(true)
    expect(command.state().status).toBe('exited')
  })

  it('continues if the command closes its pipes and lives on', async () => {
    const command = await startCommand('exec >&- 2>&-; read; exit 7', { stdin: undefined })
    expect(command.state().status).toBe('running')
    await command.write('\n')
    await command.ended()
    expect(command.state().exitCode).toBe(7)
  })
})

describe('much output', () => {
  const BYTES = 100_000_000
  // Neither text nor repeating at the size of a chunk, and made quickly.
  const MAKE = `const b=Buffer.alloc(999_983);for(let i=0;i<b.length;i++)b[i]=(i*i+i)%256;let n=${BYTES};const go=()=>{while(n>0){const c=n<b.length?b.subarray(0,n):b;n-=c.length;if(!process.stdout.write(c)){process.stdout.once('drain',go);return}}};go()`

  it('of 100 MB is complete in its file while memory stays flat', async () => {
    const path = join(folder, 'large')
    const command = await startCommand([process.execPath, '-e', MAKE], {
      call: { keepOutput: () => outputFile(path) },
    })
    let most = 0
    const before = process.memoryUsage().rss
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss)
    }, 5)
    await command.ended()
    clearInterval(watch)
    const artifact = await command.artifact()
    const expected = createHash('sha256')
    const block = Buffer.from(Array.from({ length: 999_983 }, (_, index) => (index * index + index) % 256))
    for (let left = BYTES; left > 0; left -= block.length)
      expected.update(block.subarray(0, Math.min(left, block.length)))
    expect(artifact).toMatchObject({
      bytes: BYTES,
      sha256: expected.digest('hex'),
      mediaType: 'application/octet-stream',
    })
    expect(most - before).toBeLessThan(60_000_000)
    expect(command.output().isCut).toBe(true)
    expect(command.state().bytes).toBe(BYTES)
  })

  it('is ended at its limit, and says so', async () => {
    const command = await startCommand('yes', { outputBytes: 200_001 })
    await command.ended()
    expect(command.state()).toMatchObject({ signal: 'SIGKILL', bytes: 200_001, timedOut: false })
    expect(command.output().stderr).toContain('it wrote more than 200001 bytes, the limit')
    expect(command.output().tail).toMatch(/y\n\n?\[tool-hub: this command was ended: it wrote/)
  })

  it('waits for a slow file, and loses nothing after the end', async () => {
    const path = join(folder, 'slow')
    const file = outputFile(path)
    const slow = {
      ...file,
      write: (bytes: Uint8Array) => new Promise<void>((resolve) => setImmediate(resolve)).then(() => file.write(bytes)),
    }
    const command = await startCommand('seq 1 200000', { call: { keepOutput: () => slow } })
    await command.ended()
    expect(await command.log({ offset: 199_999 })).toMatchObject({ text: '199999\n200000\n', totalLines: 200_000 })
    await command.artifact()
    expect((await readFile(path, 'utf8')).length).toBe(1_288_895)
  })

  it('is paged while it comes', async () => {
    const command = await startCommand('seq 1 20000; read; seq 20001 20003', {
      stdin: undefined,
      call: { keepOutput: () => outputFile(join(folder, 'paged')) },
    })
    await until(command, () => command.state().bytes >= 108_894)
    expect(await command.log({ offset: 10_000, limit: 2 })).toMatchObject({
      text: '10000\n10001\n',
      totalLines: 20_000,
    })
    expect(await command.artifact()).toBeUndefined()
    await command.write('\n')
    await command.ended()
    expect(await command.log({ limit: 2 })).toMatchObject({ text: '20002\n20003\n', from: 20_002, to: 20_003 })
    await command.discard()
    await expect(readFile(join(folder, 'paged'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('has no secret anywhere, as bytes are redacted before anything else', async () => {
    const path = join(folder, 'redacted')
    const received: string[] = []
    const hide = () => {
      let held = ''
      return {
        push(bytes: Uint8Array) {
          const all = (held + Buffer.from(bytes).toString('latin1')).replaceAll('s3cret', '******')
          held = all.slice(-5)
          return Buffer.from(all.slice(0, -5))
        },
        end: () => Buffer.from(held),
      }
    }
    const command = await startCommand('for i in $(seq 12000); do echo my s3cret; done', {
      call: { redact: hide, keepOutput: () => outputFile(path) },
    })
    command.onOutput((text) => received.push(text))
    await command.ended()
    await command.artifact()
    const places = [command.output().stdout, command.output().tail, await readFile(path, 'utf8'), received.join('')]
    expect(places.filter((text) => text.includes('s3cret'))).toEqual([])
    expect(received.join('')).toContain('my ******\n')
  })
})

describe('what a redactor holds back', () => {
  it('is shown when nothing follows it, and then the command is seen to wait', async () => {
    const clock = fakeClock()
    const redact = () => {
      let held: Uint8Array[] = []
      const all = () => Buffer.concat(held.splice(0))
      return {
        push(bytes: Uint8Array) {
          held = [...held, bytes]
          return new Uint8Array()
        },
        flush: all,
        end: all,
      }
    }
    const command = await startCommand('printf "Password: "; read x', { clock, stdin: undefined, call: { redact } })
    while (command.state().bytes === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(command.output().stdout).toBe('')
    const changed = command.changed()
    await clock.advance(100)
    await changed
    expect(command.output().stdout).toBe('Password: ')
    await clock.advance(400)
    expect(command.state().isWaiting).toBe(true)
    await command.kill()
    expect(clock.waiting).toBe(0)
  })
})

describe('time and the call', () => {
  it('ends a command at its timeout', async () => {
    const clock = fakeClock()
    const command = await startCommand('sleep 30', { clock, timeoutMs: 5_000 })
    await clock.advance(4_999)
    expect(command.state()).toMatchObject({ status: 'running', durationMs: 4_999 })
    await clock.advance(1)
    await command.ended()
    expect(command.state()).toMatchObject({ status: 'exited', timedOut: true, signal: 'SIGKILL', durationMs: 5_000 })
  })

  it('has no timer left after its end', async () => {
    const clock = fakeClock()
    const command = await startCommand(['true'], { clock })
    await command.ended()
    expect(clock.waiting).toBe(0)
    expect(command.state().timedOut).toBe(false)
  })

  it('is ended with its call, unless it went to the background before', async () => {
    const abort = new AbortController()
    const ends: unknown[] = []
    const call = {
      signal: () => abort.signal,
      onBackground: async (id: string) => void ends.push(id),
      onEnded: (...told: unknown[]) => void ends.push(told),
    }
    const foreground = await startCommand('sleep 30', { call })
    const background = await startCommand('read; exit 4', { call, stdin: undefined })
    await background.toBackground()
    abort.abort()
    await foreground.ended()
    expect(foreground.state()).toMatchObject({ signal: 'SIGKILL', isBackground: false })
    expect(background.state()).toMatchObject({ status: 'running', isBackground: true })
    await background.write('\n')
    await background.ended()
    await background.toBackground()
    expect(ends).toEqual([
      'calm-otter-3f2a',
      ['calm-otter-3f2a', background.state().command, { exitCode: 4, timedOut: false }],
    ])
  })

  it('is ended when its call was over before it began to listen', async () => {
    const command = await startCommand('sleep 30', { call: { signal: () => AbortSignal.abort() } })
    await command.ended()
    expect(command.state().signal).toBe('SIGKILL')
    await expect(command.toBackground()).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('does not run on in the background when that cannot be put on record', async () => {
    const onBackground = () => Promise.reject(new ToolError('RECORDS_UNAVAILABLE', 'The disk is full.'))
    const command = await startCommand('sleep 30', { call: { onBackground } })
    await expect(command.toBackground()).rejects.toMatchObject({ code: 'RECORDS_UNAVAILABLE' })
    expect(command.state().signal).toBe('SIGKILL')
  })

  it('waits only as long as it is asked to', async () => {
    const abort = new AbortController()
    const command = await startCommand('sleep 30', { stdin: undefined })
    expect(await command.ended({ withinMs: 1 })).toBe(false)
    await command.changed({ withinMs: 1 })
    const waiting = command.ended({ signal: abort.signal })
    abort.abort(new ToolError('TIMEOUT', 'The call took too long.'))
    await expect(waiting).rejects.toMatchObject({ code: 'TIMEOUT' })
    await command.kill()
    expect(await command.ended({ withinMs: 0 })).toBe(true)
    await command.changed()
  })
})

describe('input of a running command', () => {
  it('is refused after its end, and after it was closed', async () => {
    const command = await startCommand(['cat'], { stdin: undefined })
    await command.write('one\n')
    await command.closeInput()
    await expect(command.write('two\n')).rejects.toMatchObject({ code: 'CONFLICT', message: /closed its input/ })
    await command.ended()
    expect(command.output().stdout).toBe('one\n')
    await expect(command.write('three\n')).rejects.toMatchObject({ code: 'CONFLICT', message: /has ended/ })
    await expect(command.closeInput()).rejects.toMatchObject({ code: 'CONFLICT', message: /has ended/ })
  })

  it('is refused when the command has closed it, without harm to the hub', async () => {
    const command = await startCommand('exec <&-; echo closed; sleep 30', { stdin: undefined })
    await until(command, () => command.output().stdout !== '')
    const write = async () => {
      for (;;) await command.write('x')
    }
    await expect(write()).rejects.toMatchObject({ code: 'CONFLICT', message: /has closed its input/ })
    await command.kill()
  })

  it('waits in the pipe when the command does not read, up to a limit', async () => {
    const clock = fakeClock()
    const command = await startCommand('sleep 30', { stdin: undefined, clock })
    const write = command.write('x'.repeat(900_000))
    await clock.advance(2_000)
    await write
    await expect(command.write('x'.repeat(900_000))).rejects.toMatchObject({ message: /does not read its input/ })
    await command.kill()
  })
})

describe('a prompt', () => {
  it('is noticed once the command is silent, and no more once it is answered', async () => {
    const clock = fakeClock()
    const asking = await startCommand('printf "Overwrite? [y/N] " >&2; read x; printf "ok $x"; sleep 30', {
      stdin: undefined,
      clock,
    })
    await asking.changed()
    expect(asking.state().isWaiting).toBe(false)
    const changed = asking.changed()
    await clock.advance(500)
    await changed
    expect(asking.state().isWaiting).toBe(true)
    await asking.write('y\n')
    expect(asking.state().isWaiting).toBe(false)
    await asking.changed()
    await clock.advance(500)
    expect(asking.output().tail).toBe('Overwrite? [y/N] ok y')
    expect(asking.state().isWaiting).toBe(false)
    await asking.kill()
  })

  it('is none where nothing can be answered', async () => {
    const clock = fakeClock()
    const command = await startCommand('printf "Password: "; sleep 30', { clock })
    await command.changed()
    await clock.advance(500)
    expect(command.state().isWaiting).toBe(false)
    await command.kill()
  })
})
