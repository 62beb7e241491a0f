import type { JsonRecord } from './own-value.ts'

/** Where a parameter goes. */
export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie'

/** How lists and objects are written. */
export type Style = 'form' | 'simple' | 'label' | 'matrix' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'

/** A parameter of an operation, ready to be filled in. */
export interface Parameter {
  /** Its name among the arguments of the tool. */
  readonly key: string
  /** Its name in the request. */
  readonly name: string
  readonly place: ParameterPlace
  readonly isRequired: boolean
  readonly style: Style
  readonly explode: boolean
  /** Leaves characters such as `/` and `:` as they are. */
  readonly allowReserved: boolean
  /** Written as JSON, whatever it is. */
  readonly isJson: boolean
  readonly schema: JsonRecord
}

/** The styles that a place can have, its usual one first. */
export const STYLES: Readonly<Record<ParameterPlace, readonly Style[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}
