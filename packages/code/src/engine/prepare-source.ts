import { SourceMap } from 'node:module'
import { lazyModule } from '@tool-hub/core'

/** The name of the script in stack traces of the guest. */
export const SCRIPT_FILE = 'script'

/** A position in a source, counted from 1. */
export interface SourcePosition {
  readonly line: number
  readonly column: number
}

/** JavaScript that was made of a script, and the way back to the places of the script. */
export interface PreparedSource {
  readonly code: string
  /** The engine boxes the value of a program: `{ value }`. A function returns it as it is. */
  readonly isBoxed: boolean
  readonly placeOf: (place: SourcePosition) => SourcePosition
}

const FUNCTION_START = '(async () => {'

const loadSucrase = lazyModule(async () => (await import('sucrase')).transform)

/** The script as a program: its value is the value of its last expression statement. */
export function asProgram(source: string): PreparedSource {
  return { code: source, isBoxed: true, placeOf: (place) => place }
}

/** The script as the body of a function, so that it can `return`. The first line keeps its number. */
export function asFunction({ code, placeOf }: PreparedSource): PreparedSource {
  return {
    code: `${FUNCTION_START}${code}\n})()`,
    isBoxed: false,
    placeOf: ({ line, column }) =>
      placeOf({ line, column: line === 1 ? Math.max(1, column - FUNCTION_START.length) : column }),
  }
}

/** Returns what removes the types of a script. Lines stay where they are; what cannot be parsed is a `SourceError`. */
export async function loadTypeRemover(): Promise<(source: string) => PreparedSource> {
  const transform = await loadSucrase()
  return (source) => removeTypes(source, transform)
}

function removeTypes(source: string, transform: Awaited<ReturnType<typeof loadSucrase>>): PreparedSource {
  try {
    const { code, sourceMap } = transform(source, {
      transforms: ['typescript'],
      disableESTransforms: true,
      // An unused import is an error like any other: it would otherwise disappear without a word.
      keepUnusedImports: true,
      filePath: SCRIPT_FILE,
      sourceMapOptions: { compiledFilename: SCRIPT_FILE },
    })
    const map = new SourceMap({ ...sourceMap!, sourcesContent: [source], sourceRoot: '' })
    return { code, isBoxed: true, placeOf: (place) => originalPlace(map, place) }
  } catch (error) {
    throw new SourceError(error)
  }
}

/** What is wrong with a source, and where. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
  readonly place?: SourcePosition

  constructor(cause: unknown) {
    const found = /^Error transforming script: ([\s\S]*?) \((\d+):(\d+)\)$/.exec(
      cause instanceof Error ? cause.message : '',
    )
    super(found?.[1] ?? 'The source cannot be parsed.', { cause })
    if (found) this.place = { line: Number(found[2]), column: Number(found[3]) }
  }
}

/** The first place of the script in a stack trace, as `writeStack` of guest.mjs writes them. */
export function placeInStack(stack: string): SourcePosition | undefined {
  const found = /^ {4}at (?:[\w$]+ \()?script:(\d{1,7}):(\d{1,7})\)?$/m.exec(stack)
  return found ? { line: Number(found[1]), column: Number(found[2]) } : undefined
}

function originalPlace(map: SourceMap, { line, column }: SourcePosition): SourcePosition {
  const entry = map.findEntry(line - 1, column - 1)
  if (!('originalLine' in entry) || entry.generatedLine !== line - 1) return { line, column }
  return { line: entry.originalLine + 1, column: entry.originalColumn + column - entry.generatedColumn }
}
