import { spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openFifoSupply, openPipeSupply } from './command-pipes.ts'

describe.each([
  ['here-documents', openPipeSupply],
  ['named pipes', openFifoSupply],
])('a stock of %s', (_, openStock) => {
  it('has as many pipes as are wanted, each empty, open to read and never the same', async () => {
    const stock = await openStock()
    onTestFinished(() => stock.close())
    const pipes = [...(await stock.take(3)), ...(await stock.take(40))]
    expect(new Set(pipes.map(({ fd }) => fstatSync(fd).ino)).size).toBe(43)
    for (const { fd, path, close } of pipes) {
      const end = openSync(path, constants.O_WRONLY)
      writeSync(end, 'hello')
      closeSync(end)
      const bytes = Buffer.alloc(10)
      expect(bytes.toString('utf8', 0, readSync(fd, bytes))).toBe('hello')
      // Nobody else holds the other end.
      expect(readSync(fd, bytes)).toBe(0)
      close()
    }
  })

  it('tells who writes that nobody reads any more', async () => {
    const stock = await openStock()
    onTestFinished(() => stock.close())
    const [pipe] = await stock.take(1)
    const end = openSync(pipe!.path, constants.O_WRONLY)
    pipe!.close()
    expect(() => writeSync(end, 'hello')).toThrow('EPIPE')
    closeSync(end)
  })

  it('lets a program use one as its output', async () => {
    const stock = await openStock()
    onTestFinished(() => stock.close())
    const [pipe] = await stock.take(1)
    const end = openSync(pipe!.path, constants.O_WRONLY)
    const child = spawn('sh', ['-c', 'echo a; echo b >/dev/stdout'], { stdio: ['ignore', end, 'inherit'] })
    const reader = spawn('cat', [], { stdio: [pipe!.fd, 'pipe', 'inherit'] })
    closeSync(end)
    pipe!.close()
    expect(await text(reader.stdout!)).toBe('a\nb\n')
    child.kill()
  })
})
