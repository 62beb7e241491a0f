import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openGate } from './proxy-gate.ts'
import { chooseSandbox } from './start-chromium.ts'

describe('how Chromium is sandboxed', () => {
  it('is what the owner says', async () => {
    expect(await chooseSandbox('/x/chrome', 'none')).toEqual({
      ...{ sandbox: 'none', level: 'none', why: 'browser.sandbox says none' },
    })
    expect(await chooseSandbox('/x/chrome', 'own')).toEqual({
      ...{ sandbox: 'own', level: 'none', why: 'browser.sandbox says own' },
    })
    expect(await chooseSandbox('/x/chrome', 'command')).toMatchObject({
      ...{ sandbox: 'command', why: 'browser.sandbox says command' },
    })
  })

  it.runIf(process.geteuid?.() === 0)('is the sandbox of commands for root', async () => {
    expect(await chooseSandbox('/x/chrome')).toMatchObject({
      sandbox: 'command',
      level: expect.stringMatching(/^(full|namespaces)$/),
      why: 'the hub runs as root, which Chromium does not sandbox',
    })
  })
})

describe('the head of a request to the gate', () => {
  it('has 16384 bytes at most', async () => {
    const gate = await openGate()
    onTestFinished(() => gate.close())
    const head = (bytes: number) => `GET / HTTP/1.1\r\nX: ${'x'.repeat(bytes - 19)}`
    const client = connect(gate.port!, '127.0.0.1')
    onTestFinished(() => void client.destroy())
    client.write(head(16_384))
    let isAnswered = false
    client.once('data', () => {
      isAnswered = true
    })
    // Somebody who comes later is answered first, so the first one is really waited for.
    const other = connect(gate.port!, '127.0.0.1')
    other.write(head(16_385))
    expect(await text(other)).toBe(
      'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="tool-hub"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    )
    expect(isAnswered).toBe(false)
  })

  it('says who it is by one header, in any spelling', async () => {
    const gate = await openGate()
    onTestFinished(() => gate.close())
    const { password } = gate.admit('/no/such/proxy.sock')
    expect(password).toMatch(/^[0-9a-f]{48}$/)
    const words = Buffer.from(`run:${password}`).toString('base64')
    const ask = async (line: string) => {
      const client = connect(gate.port!, '127.0.0.1')
      client.write(`GET / HTTP/1.1\r\n${line}\r\n\r\n`)
      return (await text(client)).slice(0, 12)
    }
    // Who is let in is sent on to a proxy that has gone.
    expect(await ask(`PROXY-authorization:basic ${words}`)).toBe('')
    expect(await ask(`Proxy-Authorization: Bearer ${words}`)).toBe('HTTP/1.1 407')
    expect(await ask(`X-Proxy-Authorization: Basic ${words}`)).toBe('HTTP/1.1 407')
    expect(await ask(`Proxy-Authorization: Basic ${words} x`)).toBe('HTTP/1.1 407')
  })
})
