import { ToolError } from '../../../core/index.ts'

/**
 * The linear-time expression that a glob means to ripgrep, over bytes: `*` and `?` stay inside a name, `**` spans
 * folders, `[a-z]`, `[!a]`, `{a,b}` and `\\`. INPUT_SCHEMA_INVALID when the glob cannot be read.
 */
export function globSource(glob: string): string {
  return new GlobReader(glob).read()
}

/** A text with one character a byte, because ripgrep compares bytes. */
export function toByteText(text: string): string {
  return Buffer.from(text).toString('latin1')
}

class GlobReader {
  private readonly glob: string
  private readonly text: string
  private at = 0
  private depth = 0

  constructor(glob: string) {
    this.glob = glob
    this.text = toByteText(glob)
  }

  read(): string {
    let source = ''
    while (this.at < this.text.length) source += this.next()
    if (this.depth > 0) throw this.broken('a { is never closed')
    return source
  }

  private next(): string {
    const character = this.text[this.at++]!
    if (character === '*') return this.star()
    if (character === '?') return '[^/]'
    if (character === '[') return this.set()
    if (character === '\\') return this.escaped()
    if (character === '{') return this.open()
    if (character === '}') return this.close()
    if (character === ',' && this.depth > 0) return '|'
    return literal(character)
  }

  /** `**` is special only as a whole name. */
  private star(): string {
    const [before, next, after] = [this.text[this.at - 2], this.text[this.at], this.text[this.at + 1]]
    const begins = before === undefined || before === '/' || (this.depth > 0 && (before === '{' || before === ','))
    if (!begins || next !== '*') return '[^/]*'
    if (after === '/') {
      this.at += 2
      return '(?:.*/)?'
    }
    if (after !== undefined && !(this.depth > 0 && (after === ',' || after === '}'))) return '[^/]*'
    this.at += 1
    return '.*'
  }

  private set(): string {
    const isNegated = this.text[this.at] === '!' || this.text[this.at] === '^'
    if (isNegated) this.at += 1
    const end = this.text.indexOf(']', this.at + 1)
    if (end === -1) throw this.broken('a [ is never closed')
    const members = this.text.slice(this.at, end)
    this.at = end + 1
    return `[${isNegated ? '^' : ''}${this.members(members)}]`
  }

  private members(members: string): string {
    let source = ''
    for (let index = 0; index < members.length; index += 1) {
      const [from, dash, to] = members.slice(index)
      if (dash !== '-' || to === undefined) source += literal(from!)
      else {
        if (to < from!) throw this.broken(`the range ${from}-${to} runs backwards`)
        source += `${literal(from!)}-${literal(to)}`
        index += 2
      }
    }
    return source
  }

  private escaped(): string {
    const character = this.text[this.at++]
    if (character === undefined) throw this.broken('it ends with a \\')
    return literal(character)
  }

  private open(): string {
    this.depth += 1
    return '(?:'
  }

  private close(): string {
    if (this.depth === 0) throw this.broken('a } was never opened')
    this.depth -= 1
    return ')'
  }

  private broken(reason: string): ToolError {
    return new ToolError('INPUT_SCHEMA_INVALID', `The glob ${JSON.stringify(this.glob)} cannot be read: ${reason}.`, {
      hint: 'Put a \\ before a character that is meant literally.',
    })
  }
}

function literal(character: string): string {
  return /[A-Za-z0-9]/.test(character) ? character : `\\x{${character.charCodeAt(0).toString(16)}}`
}
