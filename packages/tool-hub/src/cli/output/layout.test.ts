import { describe, expect, it } from 'vitest'
import { fitLine, lineWidth, widthOf, wrapText } from './layout.ts'

const RED = '\u001b[31m'
const PLAIN = '\u001b[39m'

describe('fitLine', () => {
  it('cuts to the width of the terminal, and leaves what fits', () => {
    expect(fitLine('twelve chars', 12)).toBe('twelve chars')
    expect(fitLine('thirteen char', 12)).toBe('thirteen ch…')
  })

  it('takes a terminal that tells no width for one of 80 columns', () => {
    const terminal = (columns: number) => ({ isTTY: true, columns }) as NodeJS.WriteStream
    expect([0, 120].map((columns) => lineWidth(terminal(columns)))).toEqual([80, 120])
  })

  it('cuts nothing in a pipe', () => {
    expect(fitLine('x'.repeat(500), Number.POSITIVE_INFINITY)).toBe('x'.repeat(500))
  })

  it('gives colours no room, and ends them behind a cut', () => {
    expect(fitLine(`${RED}red${PLAIN}`, 3)).toBe(`${RED}red${PLAIN}`)
    expect(fitLine(`${RED}red roses${PLAIN}`, 4)).toBe(`${RED}red${PLAIN}…`)
  })

  it('counts columns, not characters', () => {
    expect(widthOf('日本e\u0301')).toBe(5)
    expect(widthOf(fitLine('日本語日本語', 6))).toBeLessThanOrEqual(6)
  })

  it.each([
    ['、。「」《》【】〜', 18],
    ['ｶﾞﾊﾟ', 4],
    ['ﾡ￩', 2],
    ['Ａ！￥　', 8],
    ['한글', 4],
    ['\u1112\u1161\u11ab', 2],
    ['か\u3099', 2],
    ['ㄅ㈱㍿', 6],
    ['𠮷😀', 4],
    ['é…—“”', 5],
  ])('counts the columns of %s by East Asian width', (text, columns) => {
    expect(widthOf(text)).toBe(columns)
  })
})

describe('wrapText', () => {
  it('breaks between words and indents what follows', () => {
    expect(wrapText('  one two three four', 4, 12)).toBe('  one two\n    three\n    four')
  })

  it('keeps a word whole that is longer than a line, so that it can be copied', () => {
    expect(wrapText('see /a/very/long/path here', 2, 10)).toBe('see\n  /a/very/long/path\n  here')
  })

  it('keeps the breaks and the blanks that are there', () => {
    expect(wrapText('a  b\n\n  c', 0, 80)).toBe('a  b\n\n  c')
  })

  it('breaks Chinese, Japanese and Korean text between characters', () => {
    expect(wrapText('请把总结发给张三', 2, 10)).toBe('请把总结发\n  给张三')
    expect(wrapText('ことばをつなぐ', 0, 8)).toBe('ことばを\nつなぐ')
    expect(wrapText('가나다라마바', 0, 6)).toBe('가나다\n라마바')
    expect(wrapText('error: 文件不存在', 2, 12)).toBe('error: 文件\n  不存在')
  })

  it('begins no line with a closing sign and ends none with an opening one', () => {
    expect(wrapText('今天晴，明天雨。', 0, 6)).toBe('今天\n晴，明\n天雨。')
    expect(wrapText('他说「好」了', 0, 6)).toBe('他说\n「好」\n了')
    expect(wrapText('他说《【好》】。了', 0, 6)).toBe('他说\n《【好》】。\n了')
    expect(wrapText('ちょっとコーヒー', 0, 6)).toBe('ちょっ\nとコー\nヒー')
    expect(wrapText('か\u3099か\u3099', 0, 2)).toBe('か\u3099\nか\u3099')
  })

  it('keeps Latin words and paths whole that stand in such a text', () => {
    expect(wrapText('使用TypeScript编写', 0, 6)).toBe('使\n用TypeScript编\n写')
    expect(wrapText('已删除，/数据/一月/报告.md，完成了', 0, 8)).toBe('已删除，\n/数据/一月/报告.md，\n完成了')
  })
})
