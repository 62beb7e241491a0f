import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { looksLikePrompt, PromptDetector } from './command-input.ts'

it('asks once its last words ask and it was silent for half a second', async () => {
  const clock = fakeClock()
  const watch = new PromptDetector(clock)
  expect(watch.waitsIn()).toBeUndefined()
  watch.note(Buffer.from('Name?'))
  expect(watch.waitsIn()).toBe(500)
  await clock.advance(499)
  expect(watch.waitsIn()).toBe(1)
  await clock.advance(1)
  expect(watch.waitsIn()).toBe(0)
  await clock.advance(1_000)
  expect(watch.waitsIn()).toBe(0)
})

it('asks nothing when it was answered, until it writes again', async () => {
  const clock = fakeClock()
  const watch = new PromptDetector(clock)
  watch.note(Buffer.from('Name?'))
  watch.answer()
  expect(watch.waitsIn()).toBeUndefined()
  watch.note(Buffer.from('\nAge?'))
  expect(watch.waitsIn()).toBe(500)
  watch.note(Buffer.from(' thanks'))
  expect(watch.waitsIn()).toBeUndefined()
})

it('looks at the last 256 bytes', () => {
  const asksAfter = (text: string) => {
    const watch = new PromptDetector(fakeClock())
    watch.note(Buffer.from(text))
    return watch.waitsIn()
  }
  expect(asksAfter(`password${' '.repeat(10)}${'x'.repeat(38)}`)).toBe(500)
  expect(asksAfter(`Continue${' '.repeat(248)}`)).toBeUndefined()
  expect(asksAfter(`(y/n)${' '.repeat(251)}`)).toBe(500)
  expect(asksAfter(`(y/n)${' '.repeat(252)}`)).toBeUndefined()
})

describe('looks like a prompt', () => {
  it('for questions and prompts', () => {
    checkEach(
      [
        'Password:',
        '[sudo] password for anna: ',
        'Continue? [y/N] ',
        'Ok to proceed? (y)',
        'Overwrite (yes/no)',
        'Are you sure you want to continue connecting (yes/no/[fingerprint])? ',
        'package name: (demo) ',
        '>>> ',
        '> ',
        'mysql> ',
        'bash-5.2$ ',
        'Press any key to continue . . .',
        'line\n\u001b[1mName?\u001b[0m ',
        'root#',
        'host »',
        '❯ ',
        'Name:\t',
        'Replace [Yes/No/Cancel]  ',
        'Pick one (a, b, c)',
        'Which (red|green)',
        'Port? [8080]',
        'Hit return',
        'Enter passphrase for key',
        'Your passcode 45%',
        'PRESS ENTER',
      ],
      (text) => {
        expect(looksLikePrompt(Buffer.from(text))).toBe(true)
      },
    )
  })

  it('not for other output', () => {
    checkEach(
      [
        '',
        'Password:\n',
        'done',
        'Downloading... ',
        ' 45%',
        '[#####     ] 45% ',
        'Step 3/10',
        'compiling (3/10)',
        'Resolving dependencies…',
        'Name: Anna',
        'a > b',
        'Overwrite (yes/no) was asked',
        'Port? [8080] taken',
        'compressed',
        'Pressing on',
        `press ${'x'.repeat(61)}`,
        `password ${'x'.repeat(61)}`,
        'wrong password\nbye',
        'Name?  \t ',
        '12/30: [5/6] ',
        'Working: 5 %)',
        '   ',
      ],
      (text) => {
        expect(looksLikePrompt(Buffer.from(text))).toBe(false)
      },
    )
  })
})
