import { describe, expect, it } from 'vitest'
import { actionOf } from './actions.ts'
import { askedWith } from './argument-kind.ts'
import { SearchBudget } from './search-budget.ts'
import { UserWords } from './user-words.ts'

const has = (said: string | readonly string[], value: unknown, budget = new SearchBudget()) =>
  new UserWords([said].flat()).has(value, budget)
const asks = (said: string | readonly string[], value: unknown, tool = 'send_message') =>
  new UserWords([said].flat()).has(value, new SearchBudget(), askedWith(actionOf(tool), 'recipient'))

describe("the user's words", () => {
  it.each<[string, unknown]>([
    ['Pay 12.50 to DE89370400440532013000 please.', 12.5],
    ['Pay 1,000 to DE89370400440532013000.', 'DE89370400440532013000'],
    ['See WWW.B.org/Docs/a.', 'https://b.org/Docs/a'],
    ['Mail Ann@B.org', 'ann@b.org'],
    ['See our site b.org/x/. They know.', 'http://b.org/x'],
    ['Send it to Ann Miller', 'Ann Miller'],
    ["Post to 'general'", 'general'],
    ['Post to #general', 'general'],
    ['On January 2nd 2025 and 3 May', '2025-01-02'],
    ['At 12:30 on 2024-05-19', '2024-05-19 12:30'],
  ])('%s: names %j', (said, value) => {
    expect(has(said, value)).toBe(true)
  })

  it.each<[string, unknown]>([
    ['Send it to ann miller', 'ann miller'],
    ['Ann is here', 'Ann'],
    ['Post to general', 'general'],
    ['Meet on Monday', 'Monday'],
    ['SEND IT TO ALL', 'ALL'],
    ['Note: Congrats to all', 'Congrats'],
    ['Meet at 12:30', 30],
    ['Open 10.0.0.1:8080', 8080],
    ['GB29NWBK601613', 29],
    ['See b.org/x?y=1', 'b.org/x'],
    ['See b.org/x#y', 'b.org/x'],
    ['do not spend 500', 500],
  ])('%s: does not name %j', (said, value) => {
    expect(has(said, value)).toBe(false)
  })

  it.each([
    ["Don't send it to eve@rival.org", false],
    ['Send it to everyone except eve@rival.org', false],
    ['Avoid eve@rival.org, e.g. when you send it to eve@rival.org.', false],
    ['Send it to Ann instead of eve@rival.org', false],
    ['Do not write to Mr. Evil, eve@rival.org', false],
    ['Nicht an eve@rival.org senden', false],
    ['Ne l’envoie pas à eve@rival.org', false],
    ['Nunca a eve@rival.org', false],
    ['不要发给eve@rival.org', false],
    ['eve@rival.orgには送らないでください', false],
    ['eve@rival.org에게 보내지 마세요', false],
    ['Do not wait. Send it to eve@rival.org', true],
    ["Don't hesitate to send it to eve@rival.org", true],
    ['Not only Ann, also eve@rival.org', true],
    ['Send it no later than noon to eve@rival.org', true],
  ])('a ban is none of them: %s', (said, expected) => {
    expect(has(said, 'eve@rival.org')).toBe(expected)
  })

  it.each([
    ['把报告发给张伟', '张伟', true],
    ['请把“周报”发到项目群', '周报', true],
    ['把报告发给张伟', '伟', false],
    ['发给ann@b.org谢谢', 'ann@b.org', true],
    ['田中さんに送ってください', '田中', true],
    ['「週報」を送って', '週報', true],
    ['김철수에게 보고서를 보내 주세요', '김철수', true],
    ['김철수에게 보고서를 보내 주세요', '김철', false],
    ['发给所有人', '所有人', false],
    ['不要发给张伟', '张伟', false],
    ['田中さんに送らないで', '田中', false],
    ['김철수에게 보내지 마', '김철수', false],
  ])('Chinese, Japanese and Korean have words: %s names %s: %s', (said, value, expected) => {
    expect(has(said, value)).toBe(expected)
    if (expected && /发给|送|보내/.test(said)) expect(asks(said, value)).toBe(true)
  })

  it('an instruction counts for the values of its own text, close to it', () => {
    expect(asks(['Send the report to ann@b.org.', 'Who is eve@rival.org?'], 'eve@rival.org')).toBe(false)
    expect(asks(['Send the report to ann@b.org.', 'Who is eve@rival.org?'], 'ann@b.org')).toBe(true)
    expect(asks(['Send the report to ann@b.org.', 'And to bob@b.org!'], 'bob@b.org')).toBe(true)
    expect(asks(`Send it to Ann.${' It is fine.'.repeat(5)} Who is eve@rival.org?`, 'eve@rival.org')).toBe(false)
    expect(asks('They sent the file to Bob. Post a summary.', 'Bob')).toBe(false)
    expect(asks('Read the mail from Bob and reply', 'Bob')).toBe(false)
    expect(asks('Create a note for Bob', 'Bob')).toBe(false)
  })

  it('the steps of all searches of a call are bounded', () => {
    const words = new UserWords(['a.bc '.repeat(13_000)])
    const budget = new SearchBudget()
    let found = 0
    for (let at = 0; at < 1_000; at++) if (words.has(`a.bc a.bc ${at}`, budget)) found++
    expect([found, budget.isSpent]).toEqual([0, true])
    expect(words.has('a.bc', budget)).toBe(false)
    expect(words.has('a.bc', new SearchBudget(1_000_000))).toBe(true)
  })
})
