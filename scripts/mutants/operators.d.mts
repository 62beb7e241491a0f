export interface Mutant {
  readonly operator: string
  readonly start: number
  readonly end: number
  readonly becomes: readonly string[]
}
export function mutantsOf(source: string): Mutant[]
