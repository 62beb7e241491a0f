import { expect, it } from 'vitest'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { PromptWatch } from './prompt-watch.ts'

it('asks once its last words ask and it was silent for half a second', async () => {
  const clock = fakeClock()
  const watch = new PromptWatch(clock)
  expect(watch.asksIn()).toBeUndefined()
  watch.note(Buffer.from('Name?'))
  expect(watch.asksIn()).toBe(500)
  await clock.advance(499)
  expect(watch.asksIn()).toBe(1)
  await clock.advance(1)
  expect(watch.asksIn()).toBe(0)
  await clock.advance(1_000)
  expect(watch.asksIn()).toBe(0)
})

it('asks nothing when it was answered, until it writes again', async () => {
  const clock = fakeClock()
  const watch = new PromptWatch(clock)
  watch.note(Buffer.from('Name?'))
  watch.answer()
  expect(watch.asksIn()).toBeUndefined()
  watch.note(Buffer.from('\nAge?'))
  expect(watch.asksIn()).toBe(500)
  watch.note(Buffer.from(' thanks'))
  expect(watch.asksIn()).toBeUndefined()
})

it('looks at the last 256 bytes', () => {
  const asksAfter = (text: string) => {
    const watch = new PromptWatch(fakeClock())
    watch.note(Buffer.from(text))
    return watch.asksIn()
  }
  expect(asksAfter(`password${' '.repeat(10)}${'x'.repeat(38)}`)).toBe(500)
  expect(asksAfter(`Continue${' '.repeat(248)}`)).toBeUndefined()
  expect(asksAfter(`(y/n)${' '.repeat(251)}`)).toBe(500)
  expect(asksAfter(`(y/n)${' '.repeat(252)}`)).toBeUndefined()
})
