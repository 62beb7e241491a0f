const SECTION = /^\[\s*([A-Za-z0-9-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]/
const SETTING = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/

/** One line of a config file. */
interface Setting {
  readonly section: string
  readonly key: string
  readonly value: string
}

/** The settings of a config file in a form that git and we read alike: one per line, without continuation. */
export function* readSettings(text: string): Generator<Setting | 'unreadable'> {
  let section: string | undefined
  for (const raw of text.split('\n')) {
    let line = raw.trim()
    const header = SECTION.exec(line)
    if (header) {
      section = header[1]!.toLowerCase()
      line = line.slice(header[0].length).trim()
    }
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue
    const [, key, value = ''] = SETTING.exec(line) ?? []
    if (key === undefined || section === undefined || line.endsWith('\\')) yield 'unreadable'
    else yield { section, key: key.toLowerCase(), value: value.replace(/^"(.*)"$/, '$1') }
  }
}
