import { describe, expect, it } from 'vitest'
import { toolContext } from '../../../../../test/support/tool-context.ts'
import { jsonSelect } from './json-select.ts'

const shop = {
  store: {
    books: [
      { title: 'Emma', price: 8, tags: ['old', 'love'] },
      { title: 'Dune', price: 12, tags: ['sand'] },
      { title: 'Kim', price: 8 },
    ],
    open: true,
  },
}

async function select(json: unknown, path: string, maxBytes = 1_048_576): Promise<unknown> {
  const result = (await jsonSelect.execute({ json, path, maxBytes }, toolContext())) as { value: unknown }
  return result.value
}

const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) })

describe('core/util.json.select with JMESPath', () => {
  it.each([
    ['store.books[0].title', 'Emma'],
    ['store.books[-1].title', 'Kim'],
    ['store.books[*].price', [8, 12, 8]],
    ['store.books[::2].title', ['Emma', 'Kim']],
    ['store.books[::-1] | [0].title', 'Kim'],
    ['store.books[?price < `10`].title', ['Emma', 'Kim']],
    ["store.books[?title == 'Dune'] | [0].{name: title, cost: price}", { name: 'Dune', cost: 12 }],
    ['store.books[].tags[]', ['old', 'love', 'sand']],
    ['store.books[?contains(not_null(tags, `[]`), `"sand"`)].title', ['Dune']],
    ['sort_by(store.books, &title)[*].title', ['Dune', 'Emma', 'Kim']],
    ['max_by(store.books, &title).title', 'Kim'],
    ['min_by(store.books, &price).title', 'Emma'],
    ['sum(store.books[*].price)', 28],
    ["join(', ', store.books[*].title)", 'Emma, Dune, Kim'],
    ['store.open && !(store.closed)', true],
    ['store.missing.deeper', null],
    ['store.missing || store.open', true],
    ['sort(`[10, 9, 1]`)', [1, 9, 10]],
    ['length(`"a😀"`)', 2],
    ["'it\\'s'", "it's"],
    ["'two \\\\ stay two'", 'two \\\\ stay two'],
    ['`"a\\`b\\`c"`', 'a`b`c'],
    ['to_number(`"0x10"`)', null],
    ['keys(group_by(store.books, &to_string(price)))', ['8', '12']],
    ['let $least = `10` in store.books[?price > $least].title', ['Dune']],
  ])('evaluates %s', async (path, value) => {
    expect(await select(shop, path)).toEqual(value)
  })

  it.each([
    ['store..open', /character 7/],
    ['store.books[*.title', /character 14/],
    ["store == 'open", /character 10: the ' is never closed/],
    ['store.books[', /not valid/],
    ['lenght(store)', /unknown function lenght\(\); there are .*length/],
    ['length(store, store)', /length\(\) takes 1 argument, not 2/],
    ['abs(`"x"`)', /argument 1 of abs\(\) is string, it has to be number/],
    ['store.books[::0]', /step of a slice cannot be 0/],
    ['sort_by(store.books, &tags)', /all numbers or all strings/],
    ['&store', /not a value/],
    ['store # open', /#/],
  ])('says what is wrong with %s', async (path, message) => {
    await expect(select(shop, path)).rejects.toEqual(refusal('INPUT_SCHEMA_INVALID', message))
  })
})

describe('core/util.json.select with JSONPath', () => {
  it.each([
    ['$', [shop]],
    ['$.store.books[0].title', ['Emma']],
    ['$..title', ['Emma', 'Dune', 'Kim']],
    ['$.store.books[?@.price < 10].title', ['Emma', 'Kim']],
    ['$.store.books[?@.tags].title', ['Emma', 'Dune']],
    ['$.store.books[?!@.tags].title', ['Kim']],
    ['$.store.books[?length(@.title) == 4 && @.price != 8].title', ['Dune']],
    ['$.store.books[-1:].title', ['Kim']],
    ['$.store.books[2:0:-1].title', ['Kim', 'Dune']],
    ["$.store['open','books'][0].price", [8]],
    ['$.store.books[?match(@.title, "[A-E].*a")].title', ['Emma']],
    ['$.store.books[?search(@.title, "un|im")].title', ['Dune', 'Kim']],
    ['$.store.books[?count(@.tags[*]) > 1].title', ['Emma']],
    ['$.store.books[?value(@..missing) == $.nothing].title', ['Emma', 'Dune', 'Kim']],
    ['$.store.books[?@.tags[?@ == $.store.books[1].tags[0]]].title', ['Dune']],
    ['$.missing', []],
  ])('evaluates %s', async (path, value) => {
    expect(await select(shop, path)).toEqual(value)
  })

  it.each([
    ['$.store[?@.price = 1]', /character 18/],
    ['$[', /character 3/],
    ['$.a..', /character/],
    ['$[?shout(@)]', /shout/],
    [' $.a', /no blanks before/],
    ['$[9007199254740993]', /out of range/],
  ])('says what is wrong with %s', async (path, message) => {
    await expect(select(shop, path)).rejects.toEqual(refusal('INPUT_SCHEMA_INVALID', message))
  })

  it('finds nothing by a pattern that is no I-Regexp', async () => {
    for (const pattern of ['(?i)emma', 'a**', '(a', 'a)', '[', 'a{2,1}', '\\\\d+', '[]']) {
      expect(await select(shop, `$..[?match(@.title, '${pattern}')]`)).toEqual([])
    }
  })

  it('orders texts by code points, not by UTF-16 units', async () => {
    expect(await select(['\u{1f600}', '\uff5e'], '$[?@ > "\uff5e"]')).toEqual(['\u{1f600}'])
    expect(await select(['\u{1f600}', '\uff5e'], 'sort(@)')).toEqual(['\uff5e', '\u{1f600}'])
  })
})

describe('core/util.json.select and hostile paths', () => {
  let tree: unknown = 1
  for (let depth = 0; depth < 20; depth++) tree = [tree, tree]
  const many = Array.from({ length: 50_000 }, (_, id) => ({ id }))
  const repeated = (part: string, count: number, glue: string) => Array(count).fill(part).join(glue)
  const long = 'x'.repeat(1_000_000)

  it.each([
    ['descendants of descendants', tree, '$..*..*..*'],
    ['filters in filters', many, '$[?$[?$[?@.id == 1]]]'],
    ['every element counting all', many, '$[?count($..*) > 1]'],
    ['doubling unions', tree, `$${'[*,*]'.repeat(40)}`],
    ['doubling lists', [1], repeated('[@,@]', 600, '|')],
    ['doubling lists made text', [1], `${repeated('[@,@]', 100, '|')}|to_string(@)`],
    ['doubling flattened lists', [1], repeated('[@,@][]', 500, '|')],
    ['one wide flatten', many, `[${repeated('@', 1300, ',')}][]`],
    ['comparing doubled lists', [1], `[${repeated('[@,@]', 90, '|')},${repeated('[@,@]', 90, '|')}]|[0]==[1]`],
    ['doubling texts', ['xxxxxxxx'], repeated("[join('',[@[0],@[0]])]", 150, '|')],
    ['a list for every element', many, '[?$[?$[?id==`1`]]]'],
    ['an expression nested 2000 deep', 1, `${'['.repeat(2000)}@${']'.repeat(2000)}`],
    ['a value built 1000 deep', 1, repeated('[@]', 1000, '|')],
    ['repeats inside repeats', ['a'], "$[?match(@, '((a{100}){100}){100}')]"],
    ['a new pattern for every element', many.map(({ id }) => `a${id}`), "$[?match('abc', @)]"],
    ['a long pattern over a long text', [long.repeat(4)], "$[?search(@, '(x?){300}[bc]{1,300}q')]"],
  ])('refuses %s instead of hanging', async (_, json, path) => {
    await expect(select(json, path)).rejects.toMatchObject({ name: 'ToolError' })
  })

  it.each([
    ['the last by two long texts', 'max_by(list, &(id == `1` && $.a || $.b))'],
    ['an order by two long texts', 'sort_by(list, &(id == `1` && $.a || $.b))'],
    ['the least of many long texts', 'min(map(&$.a, list))'],
    ['groups by two long texts', 'group_by(list, &(id == `1` && $.a || $.b))'],
    ['a long text in a longer one', "contains(a, join('y', [half, half]))"],
    ['pieces of a text between long ones', "split(a, join('y', [half, half]))"],
    ['a long text in reverse, 30 times', `[${repeated('reverse(a)', 30, ',')}]|length(@)`],
    ['all characters of a long text, 30 times', `[${repeated("split(a,'')", 30, ',')}]|length(@)`],
    ['objects from long lists, 30 times', `[${repeated('from_items(pairs)', 30, ',')}]|length(@)`],
    [
      'variables in variables',
      `list[:5000].[${Array.from({ length: 200 }, (_, id) => `let $v${id} = id in`).join(' ')} id]`,
    ],
  ])('pays for %s before looking', async (_, path) => {
    const json = {
      list: many,
      a: `${long}a`,
      b: `${long}b`,
      half: long.slice(0, 100_000),
      pairs: many.map(({ id }) => [`k${id}`, id]),
    }
    await expect(select(json, path)).rejects.toEqual(refusal('INPUT_SCHEMA_INVALID', /needs more than 5000000 steps/))
  })

  it('leaves ordinary work on long texts its room', async () => {
    const json = { text: `${long}needle`, words: Array(20_000).fill('word') }
    expect(await select(json, "contains(text, 'needle')")).toBe(true)
    expect(await select(json, "length(split(join(' ', words), ' '))")).toBe(20_000)
    expect(await select(json, 'length(reverse(text))')).toBe(1_000_006)
    expect(await select(json, "$[?search(@, 'need.e')]")).toEqual([json.text])
  })

  it('matches catastrophic patterns in linear time', async () => {
    const text = `${'a'.repeat(20_000)}!`
    expect(await select([text], "$[?match(@, '(a*)*(a+)+b')]")).toEqual([])
    expect(await select([text], "$[?search(@, '(a|aa)+!')]")).toEqual([text])
  })

  it('never sees what JavaScript objects inherit', async () => {
    expect(await select({}, '[constructor, toString, __proto__, constructor.name]')).toEqual([null, null, null, null])
    expect(await select({}, "$['constructor','__proto__']")).toEqual([])
  })
})

describe('core/util.json.select and its limits', () => {
  it('refuses a selection over maxBytes with the numbers, and says where to put it', async () => {
    const failure = select(['x'.repeat(2000)], '@', 1024)
    await expect(failure).rejects.toEqual(refusal('FILE_TOO_LARGE', /has 2004 bytes as JSON, the limit is 1024/))
    await expect(failure).rejects.toMatchObject({
      fix: { key: 'maxBytes', hint: expect.stringContaining('to a file') },
    })
  })

  it('counts bytes as JSON writes them', async () => {
    const value = { text: 'é"\n😀', list: [null, true, -1.5, {}, []] }
    const bytes = Buffer.byteLength(JSON.stringify(value))
    const padded = { ...value, pad: 'x'.repeat(1024) }
    const whole = Buffer.byteLength(JSON.stringify(padded))
    expect(bytes).toBeLessThan(whole)
    expect(await select(padded, '@', whole)).toEqual(padded)
    await expect(select(padded, '@', whole - 1)).rejects.toEqual(
      refusal('FILE_TOO_LARGE', new RegExp(`has ${whole} bytes`)),
    )
  })

  it('leaves evidence of what was found, not of the content', async () => {
    const ctx = toolContext()
    await jsonSelect.execute({ json: { token: 'secret-value' }, path: 'token', maxBytes: 1024 }, ctx)
    expect(ctx.collected).toEqual([{ type: 'tool', ref: 'call-1', summary: 'selected a string, 14 bytes of JSON' }])
  })
})
