import type { Hazard, ScriptReading } from './program-table.ts'

/** Finds what a sed script runs, writes and reads; a script that it cannot read for certain counts as one that runs. */
export function readSedScript(text: string): ScriptReading {
  const reader = new SedReader(text)
  return { hazards: reader.isRead() ? reader.hazards : [...reader.hazards, UNREAD], paths: reader.paths }
}

const RUNS: Hazard = { kind: 'hidden', reason: 'runs a program from inside the sed script (e)' }
const WRITES: Hazard = { kind: 'reach', reason: 'writes a file from inside the sed script (w)' }
const UNREAD: Hazard = { kind: 'hidden', reason: 'is a sed script that cannot be read for certain' }

/** The rest of a bracket expression, after its `[`. */
const BRACKET = /\^?\]?(?:\[[:.=]\w*[:.=]\]|[^\]\n])*\]/y

class SedReader {
  readonly hazards: Hazard[] = []
  readonly paths: string[] = []
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  isRead(): boolean {
    while (this.#at < this.#text.length) {
      this.#take(/[\s;}]*/y)
      if (this.#at >= this.#text.length) return true
      if (!this.#readAddresses() || !this.#readCommand()) return false
    }
    return true
  }

  #readAddresses(): boolean {
    for (let count = 0; count < 2; count++) {
      if (!this.#readAddress(count === 1)) return false
      this.#take(/\s*/y)
      if (this.#take(/,\s*/y) === '') break
    }
    this.#take(/[\s!]*/y)
    return true
  }

  #readAddress(isSecond: boolean): boolean {
    const custom = this.#take(/\\[^\n\\]/y)
    const delimiter = custom === '' ? this.#take(/\//y) : custom[1]!
    if (delimiter === '') {
      this.#take(isSecond ? /\$|[+~]?\d+/y : /\$|\d+(?:~\d+)?/y)
      return true
    }
    if (!this.#skipTo(delimiter, true)) return false
    this.#take(/[IM]*/y)
    return true
  }

  #readCommand(): boolean {
    const command = this.#text[this.#at++]
    if (command === undefined) return false
    if ('{pPdDgGhHnNxzF='.includes(command)) return this.#ends(command)
    if ('qQlL'.includes(command)) {
      this.#take(/[ \t]*\d*/y)
      return this.#ends(command)
    }
    if (command === '#') return this.#takeLine().length >= 0
    if (':btT'.includes(command)) {
      this.#take(/[ \t]*[\w.-]*/y)
      return this.#ends(command)
    }
    if ('aic'.includes(command)) return this.#readText()
    if (command === 's' || command === 'y') return this.#readPair(command)
    if ('rR'.includes(command)) return this.paths.push(this.#takeLine().trim()) > 0
    if (command === 'e') this.hazards.push(RUNS)
    else if ('wW'.includes(command)) this.#addWrite()
    else return false
    this.#takeLine()
    return true
  }

  /** What follows a command is another one, or the script cannot be read. */
  #ends(command: string): boolean {
    if (command === '{') return true
    this.#take(/[ \t]*/y)
    return this.#at >= this.#text.length || /[\n;}#]/.test(this.#text[this.#at]!)
  }

  #readPair(command: string): boolean {
    const delimiter = this.#text[this.#at++]
    if (delimiter === undefined || delimiter === '\\' || delimiter === '\n') return false
    if (!this.#skipTo(delimiter, command === 's') || !this.#skipTo(delimiter, false)) return false
    if (command === 'y') return this.#ends(command)
    const flags = this.#take(/[gpiImM0-9e]*/y)
    if (flags.includes('e')) this.hazards.push(RUNS)
    if (this.#take(/w/y) === '') return this.#ends(command)
    this.#addWrite()
    this.#takeLine()
    return true
  }

  /** `a`, `i`, `c`: the rest of the line, and the next ones while the last ends in a backslash of its own. */
  #readText(): boolean {
    this.#take(/[ \t]*(?:\\\n?)?/y)
    while (this.#at < this.#text.length && isContinued(this.#takeLine())) {}
    return true
  }

  /** Continues after the next delimiter that is not escaped and, in an expression, not within brackets. */
  #skipTo(delimiter: string, isExpression: boolean): boolean {
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at++]
      if (char === delimiter) return true
      if (char === '\\') this.#at++
      if (char !== '[' || !isExpression) continue
      // Versions differ in what a backslash before the bracket means.
      if (this.#take(BRACKET) === '' || this.#text[this.#at - 2] === '\\') return false
    }
    return false
  }

  #addWrite() {
    this.hazards.push(WRITES)
    const path = /[^\n]*/y
    path.lastIndex = this.#at
    this.paths.push(path.exec(this.#text)![0].trim())
  }

  #takeLine(): string {
    const line = this.#take(/[^\n]*/y)
    this.#take(/\n/y)
    return line
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const taken = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += taken.length
    return taken
  }
}

/** Says whether a line ends in a backslash that is not itself escaped. */
function isContinued(line: string): boolean {
  let count = 0
  while (line[line.length - 1 - count] === '\\') count++
  return count % 2 === 1
}
