import { PassThrough, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { CommandInput } from './command-input.ts'

const MIB = 1_048_576
/** A command that never reads. */
const stuck = () => new Writable({ write: () => {} })

describe('the input of a command', () => {
  it('is written and closed', async () => {
    const stream = new PassThrough()
    const input = new CommandInput(stream, 'calm-otter', fakeClock())
    await input.write('one ')
    await input.write('two')
    expect(input.isOpen).toBe(true)
    input.close()
    expect(input.isOpen).toBe(false)
    expect(await text(stream)).toBe('one two')
    const refusal = {
      code: 'CONFLICT',
      message: 'calm-otter has closed its input; nothing more can be written to it.',
      fix: {
        hint: 'Start the command again in the background; pass stdin only if the whole input is known in advance.',
      },
    }
    await expect(input.write('x')).rejects.toMatchObject(refusal)
    expect(() => input.close()).toThrow(expect.objectContaining({ code: 'CONFLICT' }))
  })

  it('takes a last text, or none', async () => {
    const stream = new PassThrough()
    const input = new CommandInput(stream, 'a', fakeClock())
    input.finish('last')
    expect([input.isOpen, await text(stream)]).toEqual([false, 'last'])
    const gone = new CommandInput(new PassThrough(), 'a', fakeClock())
    gone.destroy()
    expect(gone.isOpen).toBe(false)
    await expect(gone.write('x')).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('waits two seconds for a command that does not read, then leaves the text there', async () => {
    const clock = fakeClock()
    const input = new CommandInput(stuck(), 'a', clock)
    let isWritten = false
    const writing = input.write('x').then(() => {
      isWritten = true
    })
    await clock.advance(1_999)
    expect(isWritten).toBe(false)
    await clock.advance(1)
    await writing
    expect(input.isOpen).toBe(true)
  })

  it('holds 1 MiB of what nobody reads, and no more', async () => {
    const clock = fakeClock()
    const write = async (input: CommandInput, size: number) => {
      const writing = input.write('x'.repeat(size))
      writing.catch(() => {})
      await clock.advance(2_000)
      return writing
    }
    await write(new CommandInput(stuck(), 'a', clock), MIB)
    await expect(write(new CommandInput(stuck(), 'a', clock), MIB + 1)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `a does not read its input: 0 bytes wait, ${MIB + 1} more would exceed the limit of ${MIB}.`,
      fix: { hint: 'Read its output to see what it does, then write less at a time, or kill it.' },
    })
    const input = new CommandInput(stuck(), 'a', clock)
    await write(input, 10)
    await expect(write(input, MIB - 9)).rejects.toThrow(/10 bytes wait/)
    await write(input, MIB - 10)
  })

  it('says so when the command has closed it', async () => {
    const broken = new Writable({ write: (_, __, done) => done(new Error('EPIPE')) })
    const input = new CommandInput(broken, 'a', fakeClock())
    await expect(input.write('x')).rejects.toMatchObject({ code: 'CONFLICT', cause: { message: 'EPIPE' } })
    expect(input.isOpen).toBe(false)
  })
})
