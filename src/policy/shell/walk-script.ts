import {
  type Assignment,
  type Command,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  type Redirection,
  type SyntaxNode,
} from 'unbash'
import { describeArgument, describeInside, describeRedirection, describeWithin } from './describe-place.ts'
import { readRedirection } from './read-redirection.ts'
import { readWord, type ShellWord, staticWord } from './read-word.ts'
import type { Doubt } from './reading.ts'

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
export interface Context {
  readonly where?: string
  readonly through: readonly string[]
  readonly doubts: readonly Doubt[]
}

/** Who is told what stands in a script. */
export interface Sink {
  command(found: FoundCommand, context: Context): void
  /** Where the name of a command begins in the text. */
  name(from: number): void
  function(name: string): void
  unread(reason: string): void
  /** It has been told more than it can take. */
  isFull(): boolean
}

interface Place extends Context {
  /** What the positions of nodes are about. */
  readonly source: string
  /** The text is not the line itself: its positions cannot be compared. */
  readonly isDecoded: boolean
  /** The word that the nodes stand in: "of the second argument". */
  readonly of?: string
  readonly depth: number
}

const DEEPEST = 300

/** Tells every simple command anywhere in a script, in the order they stand. */
export function walkScript(script: ParsedScript, source: string, context: Context, sink: Sink): void {
  new Walk(sink).visit(script, { ...context, source, isDecoded: false, depth: 0 })
}

class Walk {
  readonly #sink: Sink

  constructor(sink: Sink) {
    this.#sink = sink
  }

  visit(node: SyntaxNode, place: Place): void {
    if (place.depth > DEEPEST) {
      this.#sink.unread(`it is nested more than ${DEEPEST} deep`)
      return
    }
    const inner = { ...place, depth: place.depth + 1 }
    switch (node.type) {
      case 'Script':
        this.#atScript(node, inner)
        break
      case 'Statement':
        this.visit(node.command, node.background ? withDoubt(inner, BACKGROUND) : inner)
        break
      case 'Command':
        this.#atCommand(node, inner)
        break
      case 'Pipeline':
        this.#atPipeline(node, inner)
        break
      case 'Coproc':
        this.#keyword('coproc', node, inner)
        this.#children(node, withDoubt({ ...inner, through: [...place.through, 'coproc'] }, BACKGROUND))
        break
      case 'Function':
        this.#sink.function(node.name.value)
        this.visit(node.body, {
          ...inner,
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
        this.#children(node, { ...inner, of: 'of `(( … ))`' })
        break
      case 'For':
      case 'Select':
        this.#children(node, withDoubt({ ...inner, of: 'of a loop' }, loopDoubt(node.name.value)))
        break
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        if (node.script === undefined) this.#sink.unread(`${node.text} could not be read`)
        else
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
    for (const command of node.commands)
      this.visit(command, isTimed ? { ...place, through: [...place.through, 'time'] } : place)
  }

  #atRedirected(redirects: readonly Redirection[], command: SyntaxNode, place: Place): void {
    const { doubts, reads } = this.#redirections(redirects, place)
    // Nothing of its own to read with: what is opened for a group counts as a command that only opens it.
    if (reads.length > 0) this.#sink.command({ words: [], text: '<', doubts: [], reads }, place)
    this.visit(command, { ...place, doubts: [...place.doubts, ...doubts] })
  }

  #atCommand(node: Command, place: Place): void {
    const { name, prefix, suffix } = node
    if (name && !place.isDecoded) this.#sink.name(name.pos)
    const assignments = prefix.filter((each): each is Assignment => each.type === 'Assignment')
    const doubts = assignments.flatMap((assignment) => assignmentDoubts(assignment, name !== undefined))
    for (const each of assignments) this.visit(each, { ...place, of: `of the assignment \`${each.name}\`` })
    const words: ShellWord[] = name ? [...readWord(name)] : []
    if (name?.parts) this.visit(name, { ...place, of: 'of the command name' })
    let count = 0
    for (const argument of suffix) {
      if (argument.type !== 'Word' && argument.type !== 'Assignment') continue
      count++
      if (argument.type === 'Word') words.push(...readWord(argument))
      else words.push(readAssignment(argument))
      if (argument.type === 'Assignment' || argument.parts)
        this.visit(argument, { ...place, of: describeArgument(count) })
    }
    const redirections = this.#redirections(node.redirects, place)
    const text = place.source.slice(node.pos, node.end)
    this.#sink.command(
      {
        words,
        text,
        doubts: [...doubts, ...redirections.doubts],
        reads: redirections.reads,
        input: redirections.input,
      },
      place,
    )
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

const BACKGROUND: Doubt = { kind: 'reach', reason: 'it goes on in the background' }

function withDoubt(place: Place, doubt: Doubt | undefined): Place {
  return doubt ? { ...place, doubts: [...place.doubts, doubt] } : place
}

/** Loop variables in capitals may be variables of the environment, such as PATH. */
function loopDoubt(name: string): Doubt | undefined {
  return /^[a-z][a-z0-9]*$/.test(name) ? undefined : { kind: 'reach', reason: `the loop sets ${name}` }
}

/** A text with a substitution in it may run later: as a prompt, in arithmetic. */
function assignmentDoubts({ name, value }: Assignment, hasCommand: boolean): Doubt[] {
  const doubts: Doubt[] = [{ kind: 'reach', reason: hasCommand ? `it is given ${name}` : `it sets ${name}` }]
  const texts = value.type === 'Word' ? [value] : value.elements
  if (texts.some((word) => /\$\(|`/.test(readWord(word)[0]?.value ?? '')))
    doubts.push({ kind: 'hidden', reason: `${name} holds text that could run later` })
  return doubts
}

function readAssignment({ name, value, append, text }: Assignment): ShellWord {
  const word = value.type === 'Word' ? readWord(value) : []
  const only = word.length === 1 ? word[0]!.value : undefined
  return only === undefined ? { value: undefined, source: text } : staticWord(`${name}${append ? '+' : ''}=${only}`)
}
