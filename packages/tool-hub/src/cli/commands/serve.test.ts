import { existsSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cliFolder, jsonLines } from '../../../../../test/support/cli.ts'
import { eventually } from '../../../../../test/support/eventually.ts'

const folder = cliFolder()
afterAll(folder.remove)

describe('tool-hub serve', () => {
  it('says where it is and how to sign in, serves, and ends in good order', async () => {
    const serving = folder.start(['serve', '--port', '0'])
    let said = ''
    serving.child.stdout.on('data', (chunk: string) => {
      said += chunk
    })
    await serving.says('Ctrl-C ends it')
    const [, url, token] = /sign in +(http:\/\/127\.0\.0\.1:\d+)\/#sign-in=(th_[\w-]{43})/.exec(said)!
    expect(said).toMatch(new RegExp(`files +${folder.path}\n`))
    expect(said).toMatch(/is ready at http:[\s\S]*agents .*tokens add my-agent[\s\S]*commands +level /)
    const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(await me.json()).toMatchObject({ principal: { name: 'owner' } })
    serving.child.kill('SIGTERM')
    expect((await serving.ended).code).toBe(143)
    expect(statSync(join(folder.path, '.tool-hub/store.db')).mode & 0o777).toBe(0o600)
  })

  it('reads its config again at SIGHUP, and continues', async () => {
    const own = cliFolder('version: 1\n')
    const serving = own.start(['serve', '--port', '0', '--json'])
    await serving.says('token')
    const { url, token } = JSON.parse(serving.said().stdout)
    const call = async () => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: '{"input":{}}' }
      return (await fetch(`${url}/v1/tools/core%2Futil.time.now/call`, init)).json()
    }
    expect(await call()).toMatchObject({ ok: true })
    own.write('tool-hub.yaml', 'policy: [{ deny: core/util.time.now }]\n')
    serving.child.kill('SIGHUP')
    await serving.says('tool-hub.yaml was read again')
    expect(await call()).toMatchObject({ ok: false, error: { code: 'POLICY_DENIED' } })
    own.write('tool-hub.yaml', 'policy: [{ dny: core/util.time.now }]\n')
    serving.child.kill('SIGHUP')
    await serving.says('is refused')
    expect(await call()).toMatchObject({ ok: false, error: { code: 'POLICY_DENIED' } })
    serving.child.kill('SIGTERM')
    expect((await serving.ended).code).toBe(143)
    own.remove()
  })

  it('still answers after SIGTERM for service.drain, not ready; Ctrl-C and a second signal end it immediately', async () => {
    const own = cliFolder('version: 1\nservice: { drain: 1h }\n')
    for (const [first, second, code] of [
      ['SIGTERM', 'SIGTERM', 143],
      ['SIGINT', undefined, 130],
    ] as const) {
      const serving = own.start(['serve', '--port', '0', '--json'])
      await serving.says('token')
      const { url } = JSON.parse(serving.said().stdout)
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      serving.child.kill(first)
      if (second !== undefined) {
        await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(503))
        expect((await fetch(`${url}/healthz`)).status).toBe(200)
        serving.child.kill(second)
      }
      expect((await serving.ended).code).toBe(code)
    }
    own.remove()
  })

  it('says that runs have private folders when no root is named, and which port it took instead of a taken one', async () => {
    const rootless = cliFolder('version: 1\n')
    const other = createServer()
    // Where something else has the port already, it is taken all the same.
    await new Promise<void>((resolve) => other.on('error', () => resolve()).listen(4040, '127.0.0.1', resolve))
    const serving = rootless.start(['serve'])
    await serving.says('Ctrl-C ends it')
    serving.child.kill('SIGTERM')
    const { stdout, stderr } = await serving.ended
    other.close()
    rootless.remove()
    expect(stdout).toContain('a private, empty folder for each run; --root . gives tools this folder')
    const { port } = new URL(/is ready at (\S+)/.exec(stdout)![1]!)
    expect(port).not.toBe('4040')
    expect(stderr).toContain(`Port 4040 is taken by another program, so this service listens on port ${port}.`)
    // Not a terminal: every line is an entry.
    for (const line of stderr.trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ time: expect.any(String), level: expect.stringMatching(/info|warn/) })
  })

  it('logs the warnings of its config as it logs everything else', async () => {
    const entry = 'read_file: { action: allow, constraints: { allowed_paths: [./missing/] } }'
    const own = cliFolder(`version: 1\ntools:\n  default: ask\n  ${entry}\n`)
    const serving = own.start(['serve', '--port', '0', '--json'])
    await serving.says('token')
    serving.child.kill('SIGTERM')
    const { stderr } = await serving.ended
    own.remove()
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const warning = { level: 'warn', event: 'config-warning', message: expect.stringContaining('missing') }
    expect(lines[0]).toMatchObject({ ...warning, time: expect.any(String) })
  })

  it('names the line of a doubtful rule in its log, and what was probably meant', async () => {
    const own = cliFolder('version: 1\npolicy:\n  - { deny: core/fs.writeTxt }\n')
    const serving = own.start(['serve', '--port', '0', '--log', 'json'])
    await serving.says('Ctrl-C ends it')
    serving.child.kill('SIGINT')
    const { stderr } = await serving.ended
    own.remove()
    expect(jsonLines(stderr)).toContainEqual(
      expect.objectContaining({
        event: 'config-warning',
        message: expect.stringMatching(
          /^tool-hub\.yaml:3: deny core\/fs\.writeTxt: .* Did you mean core\/fs\.writeText/,
        ),
      }),
    )
  })

  it('says what to do when a port is taken, not a port, or open to everybody', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const [taken, wrong, wide] = await Promise.all([
      folder.run(['serve', '--port', String(port)]),
      folder.run(['serve', '--port', 'http']),
      folder.run(['serve', '--port', '0', '--host', '0.0.0.0']),
    ])
    other.close()
    expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining(`Port ${port} is taken`) })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--port takes a port') })
    expect(wide.code).not.toBe(0)
    expect(wide.stderr).toContain('publicUrl')
  })
})

describe('tool-hub store', () => {
  it('checks the store, and copies it to a file that must not exist', async () => {
    expect((await folder.run(['store', 'check'])).stdout).toContain('can be read and written')
    const copy = join(folder.path, 'copy.db')
    expect((await folder.run(['store', 'backup', copy])).code).toBe(0)
    expect(existsSync(copy)).toBe(true)
    const again = await folder.run(['store', 'backup', copy])
    expect(again.code).not.toBe(0)
    expect(again.stderr).toContain('copy.db')
  })
})
