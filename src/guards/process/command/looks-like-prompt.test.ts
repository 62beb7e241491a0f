import { describe, expect, it } from 'vitest'
import { looksLikePrompt } from './looks-like-prompt.ts'

describe('looks like a prompt', () => {
  it.each([
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
  ])('for %j', (text) => {
    expect(looksLikePrompt(Buffer.from(text))).toBe(true)
  })

  it.each([
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
  ])('not for %j', (text) => {
    expect(looksLikePrompt(Buffer.from(text))).toBe(false)
  })
})
