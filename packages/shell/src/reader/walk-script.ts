import {
  type Assignment,
  type Command,
  forEachChild,
  type ParameterExpansionPart,
  type ParsedScript,
  type Pipeline,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { type Doubt, hidden, reach } from '../reading.ts'
import { isCodeVariable, type LineData } from './line-data.ts'
import { observeData } from './observe-data.ts'
import { followMoves, readCommandWords, readRedirection, readWord, type ShellWord, staticWord } from './read-command.ts'

/** A simple command as it stands in the line. */
export interface FoundCommand {
  readonly words: readonly ShellWord[]
  readonly text: string
  readonly doubts: readonly Doubt[]
  /** Files that are opened for it to read. */
  readonly reads?: readonly ShellWord[]
  /** What it reads on its standard input, where the line holds it. */
  readonly input?: ShellWord
}

/** What holds for all commands in a place of the line. */
export interface ScriptContext {
  readonly where?: string
  readonly through: readonly string[]
  readonly doubts: readonly Doubt[]
  /** Where the `cd` before it in the same `&&` goes: it runs there or not at all. */
  readonly within?: string
  /** It stands in a loop or a function, and may run more than once. */
  readonly isRepeated?: boolean
  /** It stands behind a pipe, or in a group that reads a file. */
  readonly hasInput?: boolean
}

/** Receives the commands found in a script. */
export interface ScriptSink {
  command(found: FoundCommand, context: ScriptContext): void
  /** Where the name of a command begins in the text. */
  name(from: number): void
  function(name: string): void
  unread(reason: string): void
  /** Where values go. */
  readonly data: LineData
  /** It has been given more than it can take. */
  isFull(): boolean
}

interface Place extends ScriptContext {
  /** What the positions of nodes are about. */
  readonly source: string
  /** The text is not the line itself: its positions cannot be compared. */
  readonly isDecoded: boolean
  /** The word that the nodes stand in: "of the second argument". */
  readonly of?: string
  readonly depth: number
}

const MAX_DEPTH = 300

/** Reports every simple command anywhere in a script, in the order they stand. */
export function walkScript(script: ParsedScript, source: string, context: ScriptContext, sink: ScriptSink): void {
  new Walk(sink).visit(script, { ...context, source, isDecoded: false, depth: 0 })
}

class Walk {
  readonly #sink: ScriptSink

  constructor(sink: ScriptSink) {
    this.#sink = sink
  }

  visit(node: SyntaxNode, place: Place): void {
    if (place.depth > MAX_DEPTH) {
      this.#sink.unread(`it is nested more than ${MAX_DEPTH} deep`)
      return
    }
    observeData(node, this.#sink.data)
    const inner = { ...place, depth: place.depth + 1, within: undefined }
    switch (node.type) {
      case 'Script':
        this.#atScript(node, inner)
        break
      case 'Statement':
        this.visit(node.command, node.background ? withDoubts(inner, [BACKGROUND]) : inner)
        break
      case 'AndOr': {
        const folders = followMoves(node)
        for (const [index, command] of node.commands.entries())
          this.visit(command, { ...inner, within: folders[index] })
        break
      }
      case 'Command':
        this.#atCommand(node, { ...inner, within: place.within })
        break
      case 'Pipeline':
        this.#atPipeline(node, { ...inner, within: place.within })
        break
      case 'Coproc':
        this.#keyword('coproc', node, inner)
        this.#children(node, withDoubts({ ...inner, through: [...place.through, 'coproc'] }, [BACKGROUND]))
        break
      case 'Function':
        this.#sink.function(node.name.value)
        this.visit(node.body, {
          ...inner,
          isRepeated: true,
          where: describeWithin(`in the function \`${node.name.value}\``, place.where),
        })
        break
      case 'Redirected':
        this.#atRedirected(node.redirects, node.command, inner)
        break
      case 'TestCommand':
        this.#keyword('[[', node, inner)
        this.#children(node, { ...inner, of: 'of `[[ … ]]`' })
        break
      case 'ArithmeticCommand':
      case 'ArithmeticFor':
        this.#keyword('((', node, inner)
        this.#children(node, { ...inner, of: 'of `(( … ))`', isRepeated: true })
        break
      case 'While':
        this.#children(node, { ...inner, isRepeated: true })
        break
      case 'For':
      case 'Select':
        this.#children(
          node,
          withDoubts({ ...inner, of: 'of a loop', isRepeated: true }, [
            loopDoubt(node.name.value),
            findEffect(node.wordlist ?? []),
          ]),
        )
        break
      case 'Case': {
        const patterns = node.items.flatMap(({ pattern }) => pattern)
        this.#children(node, withDoubts(inner, [findEffect([node.word, ...patterns])]))
        break
      }
      case 'ParameterExpansion':
        this.#atParameter(node, inner)
        break
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        if (node.script === undefined || !/[)`]$/.test(node.text)) this.#sink.unread(`${node.text} could not be read`)
        if (node.script !== undefined)
          this.visit(node.script, { ...inner, of: undefined, where: describeInside(node.text, place.of, place.where) })
        break
      case 'Unknown':
        this.#sink.unread(`the expansion operator ${node.operator} is not known`)
        break
      default:
        this.#children(node, inner)
    }
  }

  #children(node: SyntaxNode, place: Place): void {
    forEachChild(node, (child) => {
      if (!this.#sink.isFull()) this.visit(child, place)
    })
  }

  #atScript(script: ParsedScript, place: Place): void {
    for (const { message } of script.errors ?? []) this.#sink.unread(message)
    const { source } = script
    this.#children(script, source === undefined ? place : { ...place, source, isDecoded: true })
  }

  #atPipeline(node: Pipeline, place: Place): void {
    const isTimed = node.prefixes.some(({ type }) => type === 'Time')
    for (const prefix of node.prefixes) if (prefix.type === 'Time') this.#keyword('time', prefix, place)
    const inner = isTimed ? { ...place, through: [...place.through, 'time'] } : place
    for (const [index, command] of node.commands.entries())
      this.visit(command, index === 0 ? inner : { ...inner, hasInput: true })
  }

  #atRedirected(redirects: readonly Redirection[], command: SyntaxNode, place: Place): void {
    const { doubts, reads, input } = this.#redirections(redirects, place)
    const hasInput = place.hasInput || reads.length > 0 || input !== undefined
    // Nothing of its own to read with: what is opened for a group counts as a command that only opens it.
    if (reads.length > 0) this.#sink.command({ words: [], text: '<', doubts: [], reads }, place)
    this.visit(command, { ...place, hasInput, doubts: [...place.doubts, ...doubts] })
  }

  #atCommand(node: Command, place: Place): void {
    const { name, prefix, args } = node
    if (name && !place.isDecoded) this.#sink.name(name.pos)
    const assignments = prefix.filter((each) => each.type === 'Assignment')
    for (const each of assignments) this.visit(each, { ...place, of: `of the assignment \`${each.name}\`` })
    if (name?.parts) this.visit(name, { ...place, of: 'of the command name' })
    for (const [index, argument] of args.entries())
      if (argument.type === 'Assignment' || argument.parts)
        this.visit(argument, { ...place, of: describeArgument(index + 1) })
    const { doubts, ...redirections } = this.#redirections(node.redirects, place)
    const own = assignments.flatMap((assignment) => assignmentDoubts(assignment, name !== undefined))
    const text = place.source.slice(node.pos, node.end)
    this.#sink.command({ words: readCommandWords(node), text, doubts: [...own, ...doubts], ...redirections }, place)
  }

  #atParameter(node: ParameterExpansionPart, place: Place): void {
    const replacement = readReplacement(node)
    if (replacement === undefined) {
      this.#children(node, place)
      return
    }
    const { source, words } = replacement
    this.#sink.unread(`what is replaced in ${node.text} is only known to bash`)
    for (const word of words) this.visit(word, { ...place, source, isDecoded: true })
  }

  #redirections(redirects: readonly Redirection[], place: Place) {
    const found = redirects.map(readRedirection)
    for (const redirect of redirects) this.visit(redirect, { ...place, of: describeRedirection(redirect) })
    for (const { unread } of found) if (unread) this.#sink.unread(unread)
    return {
      doubts: found.flatMap(({ doubt }) => doubt ?? []),
      reads: found.flatMap(({ reads }) => reads ?? []),
      input: found.findLast(({ input }) => input)?.input,
    }
  }

  /** Words of the grammar that do something themselves are judged like commands. */
  #keyword(name: string, { pos, end }: { readonly pos: number; readonly end: number }, place: Place): void {
    if (!place.isDecoded) this.#sink.name(pos)
    this.#sink.command({ words: [staticWord(name)], text: place.source.slice(pos, end), doubts: [] }, place)
  }
}

const BACKGROUND = reach('it continues in the background')

function withDoubts(place: Place, found: readonly (Doubt | undefined)[]): Place {
  return { ...place, doubts: [...place.doubts, ...found.filter((doubt) => doubt !== undefined)] }
}

/** Loop variables in capitals may be variables of the environment, such as PATH. */
function loopDoubt(name: string): Doubt | undefined {
  return /^[a-z][a-z0-9]*$/.test(name) ? undefined : reach(`the loop sets ${name}`)
}

/** What is doubtful about `A=b`; a text with a substitution in it may run later: as a prompt, in arithmetic. */
function assignmentDoubts({ name, value }: Assignment, hasCommand: boolean): Doubt[] {
  const reason = hasCommand ? `it is given ${name}` : `it sets ${name}`
  const doubts = [isCodeVariable(name) ? hidden(reason) : reach(reason)]
  const texts = value.type === 'Word' ? [value] : value.elements
  if (texts.some((word) => /\$\(|`/.test(readWord(word)[0]?.value ?? '')))
    doubts.push(hidden(`${name} holds text that could run later`))
  return doubts
}

/** A text with the words that stand in it. */
interface Replacement {
  readonly source: string
  readonly words: Command['args']
}

/**
 * What stands after the operator of `${x/…}`, read as one word, when commands are in it: the parser ends the pattern at
 * the first slash even inside of a command, whose other words are then lost.
 */
function readReplacement({ text, pos, operation }: ParameterExpansionPart): Replacement | undefined {
  if (operation?.type !== 'Replace') return undefined
  const rest = text.slice(operation.operatorEnd - pos, -1)
  if (!/\$(?:\\\n)*\(|`|[<>]\(/.test(rest)) return undefined
  const source = `: \${x:-${rest}}`
  const command = parse(source).commands[0]?.command
  return { source, words: command?.type === 'Command' ? command.args : [] }
}

/** What words of a loop or a `case` do besides being texts: `for x in $((PATH=5))` sets a variable. */
function findEffect(words: readonly Word[]): Doubt | undefined {
  for (const word of words) {
    const found = findExpansion(word)
    if (found !== undefined) return reach(`what ${found} does is only known when it runs`)
  }
  return undefined
}

/** The first expansion that could evaluate or set something; commands in it are judged by themselves. */
function findExpansion(node: SyntaxNode): string | undefined {
  if (node.type === 'ArithmeticExpansion') return node.text
  if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') return undefined
  if (node.type === 'ParameterExpansion') {
    const { prefix, index, operation, text } = node
    return prefix === '!' || index !== undefined || operation !== undefined ? text : undefined
  }
  let found: string | undefined
  forEachChild(node, (child) => {
    found ??= findExpansion(child)
  })
  return found
}

const MAX_LENGTH = 160

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

/** "inside `$(…)` of the second argument": where a substitution stands, and in what. */
function describeInside(text: string, of: string | undefined, outer: string | undefined): string {
  return describeWithin(`inside ${markOf(text)}${of === undefined ? '' : ` ${of}`}`, outer)
}

/** A place in a place; what is nested very deep is reported by its outer places. */
export function describeWithin(inner: string, outer: string | undefined): string {
  if (outer === undefined) return inner
  return outer.length > MAX_LENGTH ? outer : `${inner}, ${outer}`
}

/** "of the second argument". */
function describeArgument(count: number): string {
  const ordinal = ORDINALS[count - 1]
  return ordinal === undefined ? `of argument ${count}` : `of the ${ordinal} argument`
}

/** "of the here-document". */
function describeRedirection({ type }: Redirection): string {
  if (type === 'HereDoc') return 'of the here-document'
  return type === 'HereString' ? 'of the here-string' : 'of a redirection'
}

function markOf(text: string): string {
  if (text.startsWith('`')) return 'backticks'
  return `\`${text.slice(0, 2)}…${text.startsWith('${') ? '}' : ')'}\``
}
