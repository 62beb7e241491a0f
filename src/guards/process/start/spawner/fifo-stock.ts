import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PipeStock, SparePipe } from './pipe-stock.ts'

const AT_ONCE = 24

/**
 * Named pipes in a private folder, for systems without /proc. On Linux, a program that opens /dev/stdin after its input
 * was closed would wait for ever on one of these, which is why they come second.
 */
export async function openFifoStock(): Promise<PipeStock> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-hub-pipes-'))
  const stock: string[] = []
  let count = 0
  const make = async () => {
    const paths = Array.from({ length: AT_ONCE }, () => join(folder, String(count++)))
    // The folder keeps others out; inside, a command that runs as another user may open its own.
    const child = spawn('/usr/bin/mkfifo', ['-m', '666', ...paths], { stdio: 'ignore', env: {} })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`mkfifo ended with ${code}`)
    stock.push(...paths)
  }
  await make()
  return {
    async take(wanted) {
      while (stock.length < wanted) await make()
      return stock.splice(0, wanted).map(openFifo)
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function openFifo(path: string): SparePipe {
  // To open one end waits for the other, unless it is opened for both.
  const both = openSync(path, constants.O_RDWR)
  const fd = openSync(path, constants.O_RDONLY)
  closeSync(both)
  if (existsSync(`/proc/self/fd/${fd}`)) {
    // Without a name, what a command changes of it is nobody's file.
    unlinkSync(path)
    return { fd, path: `/proc/${process.pid}/fd/${fd}`, close: () => closeSync(fd) }
  }
  const close = () => {
    closeSync(fd)
    unlinkSync(path)
  }
  return { fd, path, close }
}
