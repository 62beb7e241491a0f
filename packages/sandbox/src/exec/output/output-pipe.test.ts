import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { KeptOutput } from './kept-output.ts'
import { LiveOutput, OutputPipe } from './output-pipe.ts'

const asIs = () => ({ push: (bytes: Uint8Array) => bytes, end: () => Buffer.alloc(0) })

/** A pipe with a text in it whose writing end stays open, as a process that a command leaves behind holds it. */
function filledPipe(text: string): { readonly stream: Socket; readonly writer: number } {
  const path = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  writeSync(writer, text)
  return { stream: new Socket({ fd, readable: true, writable: false }), writer }
}

it('keeps what a command wrote before its end, though the process stands still for longer than a silence', async () => {
  const { stream, writer } = filledPipe('the last words')
  const kept = new KeptOutput({
    bound: 1_000,
    keepOutput: () => {
      throw new Error('no file is needed')
    },
  })
  const pipe = new OutputPipe({
    ...{ stdout: stream, stderr: Readable.from([]), redact: asIs, kept, live: new LiveOutput(systemClock) },
    ...{ clock: systemClock, maxBytes: 1_000, onTooMuch() {}, onBytes() {}, onMore() {} },
  })
  const drained = pipe.drain()
  // Its timers are due before anything is read.
  for (const until = Date.now() + 300; Date.now() < until; );
  await drained
  closeSync(writer)
  expect(kept.output().stdout).toBe('the last words')
})
