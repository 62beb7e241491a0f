/** What patterns look at. */
export interface FilteredOperation {
  readonly operationId: string | undefined
  readonly tags: readonly string[]
  readonly method: string
  readonly path: string
}

interface Pattern {
  readonly text: string
  readonly isExcluding: boolean
  readonly fits: (operation: FilteredOperation) => boolean
  isUsed: boolean
}

/** Which operations the owner wants, and which entries of the list fit none. */
export class OperationFilter {
  readonly #patterns: readonly Pattern[]
  readonly #takesAll: boolean

  constructor(patterns: readonly string[] | undefined) {
    this.#patterns = (patterns ?? []).map(toPattern)
    this.#takesAll =
      patterns === undefined || (patterns.length > 0 && this.#patterns.every(({ isExcluding }) => isExcluding))
  }

  takes(operation: FilteredOperation): boolean {
    const fitting = this.#patterns.filter((pattern) => pattern.fits(operation))
    for (const pattern of fitting) pattern.isUsed = true
    if (fitting.some(({ isExcluding }) => isExcluding)) return false
    return this.#takesAll || fitting.length > 0
  }

  unused(): string[] {
    return this.#patterns.filter(({ isUsed }) => !isUsed).map(({ text }) => text)
  }
}

function toPattern(text: string): Pattern {
  const isExcluding = text.startsWith('!')
  const wanted = isExcluding ? text.slice(1) : text
  return { text, isExcluding, fits: fitting(wanted), isUsed: false }
}

function fitting(wanted: string): Pattern['fits'] {
  if (wanted.startsWith('tag:')) {
    const tag = globOf(wanted.slice('tag:'.length))
    return ({ tags }) => tags.some((each) => tag.test(each))
  }
  const blank = wanted.indexOf(' ')
  if (blank === -1) {
    const id = globOf(wanted)
    return ({ operationId }) => operationId !== undefined && id.test(operationId)
  }
  const method = globOf(wanted.slice(0, blank).toUpperCase())
  const place = globOf(wanted.slice(blank + 1))
  return ({ method: own, path }) => method.test(own) && place.test(path)
}

/** `*` is any text, nothing else is special. */
function globOf(pattern: string): RegExp {
  const parts = pattern.split(/\*+/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's')
}
