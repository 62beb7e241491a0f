import { describe, expect, it } from 'vitest'
import { cleanFileName } from './message-content.ts'

describe('the name of an attachment', () => {
  it.each([
    ['report.csv', 'report.csv'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\x\\a.txt', 'a.txt'],
    ['.bashrc', 'bashrc'],
    ['a"b\r\nBcc: x.txt', 'a_b__Bcc_ x.txt'],
    ['fdp.\u202eexe', 'fdp._exe'],
    ['Übersicht 2.md', 'Übersicht 2.md'],
    ['..', 'attachment-3'],
    ['', 'attachment-3'],
    [undefined, 'attachment-3'],
  ])('%j is %j', (name, clean) => {
    expect(cleanFileName(name, 2)).toBe(clean)
  })

  it('is short, and keeps what it ends in', () => {
    const clean = cleanFileName(`${'x'.repeat(500)}.pdf`, 0)
    expect(clean).toHaveLength(100)
    expect(clean).toMatch(/x\.pdf$/)
  })
})
